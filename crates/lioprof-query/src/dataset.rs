//! The location of a dataset: a local folder, or a prefix in an object store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use futures::TryStreamExt;
use lioprof_store::{MANIFESTS, ROLLUPS, SECONDS};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use url::Url;

use crate::error::QueryError;

/// Folders to search for datasets at most, so that naming a whole disk or bucket by mistake ends with an error.
const LOOK_AT: usize = 10_000;

/// One dataset, or several below one folder, such as those of the daemons of several servers.
#[derive(Clone, Debug)]
pub struct Dataset {
    name: String,
    url: Url,
    store: Arc<dyn ObjectStore>,
    /// Folders that hold `manifests` or `rollups`, sorted.
    folders: Vec<Path>,
}

impl Dataset {
    /// Finds the dataset at a location, or those below it.
    ///
    /// # Errors
    /// If the location cannot be listed, or holds no dataset.
    pub async fn open(name: &str) -> Result<Self, QueryError> {
        let (url, store) = if name.contains("://") { remote(name)? } else { local(name)? };
        let start =
            Path::from_url_path(url.path()).map_err(|err| QueryError::Place(name.to_owned(), err.to_string()))?;
        let mut dataset = Self { name: name.to_owned(), url, store, folders: Vec::new() };
        dataset.folders = dataset.search(start).await?;
        if dataset.folders.is_empty() {
            return Err(QueryError::NoDataset(dataset.name));
        }
        Ok(dataset)
    }

    /// Location of the dataset as the user wrote it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The store, and the URL that stands for it: `file:///`, `s3://bucket`.
    pub(crate) fn store(&self) -> (Url, Arc<dyn ObjectStore>) {
        let mut url = self.url.clone();
        url.set_path("/");
        (url, Arc::clone(&self.store))
    }

    /// Nodes that have parts, sorted.
    pub(crate) async fn nodes(&self) -> Result<Vec<String>, QueryError> {
        Ok(self.parts().await?.into_keys().collect())
    }

    /// Existing parts by node, as file names without extension. A part that was copied twice counts once.
    pub(crate) async fn parts(&self) -> Result<BTreeMap<String, BTreeSet<String>>, QueryError> {
        let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for folder in self.table_folders(MANIFESTS) {
            for path in self.below(&folder).await? {
                let Some(part) = path.filename().and_then(|name| name.strip_suffix(".json")) else { continue };
                if let Some(node) = node_of(&path).filter(|_| !part.starts_with('.')) {
                    parts.entry(node).or_default().insert(part.to_owned());
                }
            }
        }
        Ok(parts)
    }

    /// The folders as such, unless they are in an object store.
    pub(crate) fn local_folders(&self) -> Option<Vec<PathBuf>> {
        let folder = |folder: &Path| PathBuf::from(format!("/{folder}"));
        (self.url.scheme() == "file").then(|| self.folders.iter().map(folder).collect())
    }

    /// Files of a folder of the dataset with names that end so.
    pub(crate) async fn files(&self, folder: &str, extension: &str) -> Result<Vec<Path>, QueryError> {
        let mut files = Vec::new();
        for folder in self.table_folders(folder) {
            files.extend(self.below(&folder).await?.into_iter().filter(|file| file.extension() == Some(extension)));
        }
        Ok(files)
    }

    /// The bytes of a file.
    pub(crate) async fn read(&self, file: &Path) -> Result<Vec<u8>, QueryError> {
        let failed = |source| QueryError::List(format!("{}/{file}", self.name), source);
        let bytes = self.store.get(file).await.map_err(failed)?.bytes().await.map_err(failed)?;
        Ok(bytes.to_vec())
    }

    /// Copies the files of a node into a folder; the datasets that they make there.
    pub(crate) async fn copy_node(&self, node: &str, to: &FilePath) -> Result<Vec<PathBuf>, QueryError> {
        let write = |path: &FilePath, bytes: &[u8]| {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            fs::write(path, bytes)
        };
        let mut folders = Vec::new();
        for (at, folder) in self.folders.iter().enumerate() {
            let mut is_there = false;
            for file in self.below(folder).await?.iter().filter(|file| node_of(file).as_deref() == Some(node)) {
                let rest: Vec<_> = file.prefix_match(folder).into_iter().flatten().collect();
                let path = rest.iter().fold(to.join(at.to_string()), |path, part| path.join(part.as_ref()));
                let copied = write(&path, &self.read(file).await?);
                copied.map_err(|err| QueryError::Output(format!("a copy of `{file}`"), err))?;
                is_there = true;
            }
            folders.extend(is_there.then(|| to.join(at.to_string())));
        }
        Ok(folders)
    }

    /// All files below a folder.
    async fn below(&self, folder: &Path) -> Result<Vec<Path>, QueryError> {
        let listed: Result<Vec<_>, _> = self.store.list(Some(folder)).map_ok(|it| it.location).try_collect().await;
        listed.map_err(|source| QueryError::List(self.name.clone(), source))
    }

    /// The folders of a table, as URLs. A dataset may lack some tables.
    pub(crate) fn table_urls(&self, table: &str) -> Vec<Url> {
        let url = |folder: &Path| {
            let mut url = self.url.clone();
            // `Url` escapes everything else that has a meaning in a URL, but takes `%` for an escape.
            url.set_path(&format!("/{}/", below(folder, table)).replace('%', "%25"));
            url
        };
        self.folders.iter().map(url).collect()
    }

    /// The folders of a table in the store.
    pub(crate) fn table_folders(&self, table: &str) -> impl Iterator<Item = Path> {
        self.folders.iter().map(move |folder| below(folder, table))
    }

    /// Days that have parts, in order: `2026-11-21` from the folder `date=2026-11-21`.
    ///
    /// # Errors
    /// If the dataset cannot be listed.
    pub async fn dates(&self) -> Result<Vec<String>, QueryError> {
        let mut level: Vec<Path> = self.table_folders(MANIFESTS).collect();
        // fs=../node=../date=..
        for _ in 0..3 {
            let mut next = Vec::new();
            for folder in &level {
                next.extend(self.list(folder).await?);
            }
            level = next;
        }
        let date = |folder: &Path| Some(folder.filename()?.strip_prefix("date=")?.to_owned());
        let dates: BTreeSet<String> = level.iter().filter_map(date).collect();
        Ok(dates.into_iter().collect())
    }

    /// Folders with manifests or rollups, at a folder and below it. Datasets are not nested.
    async fn search(&self, start: Path) -> Result<Vec<Path>, QueryError> {
        let (mut found, mut waiting, mut looked_at) = (Vec::new(), vec![start], 0);
        while let Some(folder) = waiting.pop() {
            looked_at += 1;
            if looked_at > LOOK_AT {
                let problem = format!("too many folders below it, gave up after {LOOK_AT}; name the dataset itself");
                return Err(QueryError::Place(self.name.clone(), problem));
            }
            let below = self.list(&folder).await?;
            let (manifests, rollups) = (folder.clone().join(MANIFESTS), folder.clone().join(ROLLUPS));
            let has_rows = below.contains(&manifests) && self.list(&manifests).await?.iter().any(is_file_system);
            // Rollups may be all that is kept.
            if has_rows
                || below.contains(&rollups) && self.list(&rollups).await?.contains(&rollups.clone().join(SECONDS))
            {
                found.push(folder);
            } else {
                waiting.extend(below);
            }
        }
        found.sort();
        Ok(found)
    }

    /// Folders in a folder.
    async fn list(&self, folder: &Path) -> Result<Vec<Path>, QueryError> {
        let listed = self.store.list_with_delimiter(Some(folder)).await;
        listed.map(|it| it.common_prefixes).map_err(|source| QueryError::List(self.name.clone(), source))
    }
}

/// A table's folder: `rpcs`, `rollups/series`.
fn below(folder: &Path, table: &str) -> Path {
    table.split('/').fold(folder.clone(), |folder, name| folder.join(name))
}

/// The node whose folder (`node=oss1`) a file is in.
fn node_of(file: &Path) -> Option<String> {
    file.parts().find_map(|folder| lioprof_store::node_of_folder(folder.as_ref()))
}

fn is_file_system(folder: &Path) -> bool {
    folder.filename().is_some_and(|name| name.starts_with("fs="))
}

fn local(name: &str) -> Result<(Url, Arc<dyn ObjectStore>), QueryError> {
    let problem = |problem: String| QueryError::Place(name.to_owned(), problem);
    let path = FilePath::new(name).canonicalize().map_err(|err| problem(err.to_string()))?;
    if !path.is_dir() {
        return Err(problem("it is a file".to_owned()));
    }
    let url = Url::from_directory_path(&path).map_err(|()| problem("it is not an absolute path".to_owned()))?;
    Ok((url, Arc::new(LocalFileSystem::new())))
}

fn remote(name: &str) -> Result<(Url, Arc<dyn ObjectStore>), QueryError> {
    let problem = |problem: String| QueryError::Place(name.to_owned(), problem);
    let url = Url::parse(name).map_err(|err| problem(err.to_string()))?;
    match url.scheme() {
        "file" => {
            let path = url.to_file_path().map_err(|()| problem("it is not a path of this machine".to_owned()))?;
            local(&path.to_string_lossy())
        }
        "s3" | "s3a" if url.host_str().is_some() => {
            let store = bucket(&url).map_err(|source| QueryError::Store(name.to_owned(), source))?;
            Ok((url, store))
        }
        "s3" | "s3a" => Err(problem("it names no bucket".to_owned())),
        scheme => Err(problem(format!("`{scheme}://` is not supported"))),
    }
}

/// The store of a bucket, with credentials, region and endpoint from the environment.
pub(crate) fn bucket(url: &Url) -> object_store::Result<Arc<dyn ObjectStore>> {
    Ok(Arc::new(AmazonS3Builder::from_env().with_url(url.as_str()).build()?))
}
