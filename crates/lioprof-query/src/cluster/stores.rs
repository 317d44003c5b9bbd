//! The object stores of schedulers and executors: made when a plan first names them, with the credentials of this process.
//! Nothing secret travels with a plan.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::error::Result;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult,
};
use url::Url;

/// Stores by URL: local folders, and buckets once they are asked for.
#[derive(Debug)]
pub(super) struct Stores {
    known: DefaultObjectStoreRegistry,
}

impl Stores {
    pub(super) fn new() -> Self {
        let known = DefaultObjectStoreRegistry::new();
        let local = Url::parse("file://").expect("a constant");
        known.register_store(&local, Arc::new(SharedFolders(LocalFileSystem::new())));
        Self { known }
    }
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.known.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        if let Ok(store) = self.known.get_store(url) {
            return Ok(store);
        }
        let store = crate::dataset::bucket(url)?;
        self.known.register_store(url, Arc::clone(&store));
        Ok(store)
    }
}

/// Local folders that every host of the cluster is expected to see at the same path.
///
/// An object store lists what is not there as empty. On a host that has not mounted the dataset this would be an answer of
/// no rows; here it is an error.
#[derive(Debug)]
struct SharedFolders(LocalFileSystem);

impl SharedFolders {
    /// Whether the folder is there that holds the tables. A table itself may be missing: not every dataset has all of them.
    fn seen(&self, listed: Option<&Path>) -> object_store::Result<()> {
        let Some(listed) = listed else { return Ok(()) };
        let folder = dataset_folder(listed);
        let path: PathBuf = self.0.path_to_filesystem(&folder)?;
        if path.is_dir() {
            return Ok(());
        }
        let problem = format!(
            "`{}` is not there on this host of the cluster; scheduler and executors must see the dataset at the same path",
            path.display()
        );
        Err(object_store::Error::NotFound { path: folder.to_string(), source: io::Error::other(problem).into() })
    }
}

/// The folder above a table's folder `rpcs`, or one of its parts `rpcs/fs=lustre/node=oss1`.
fn dataset_folder(listed: &Path) -> Path {
    let parts: Vec<_> = listed.parts().collect();
    let table = parts.iter().rposition(|part| !part.as_ref().contains('=')).unwrap_or(0);
    Path::from_iter(parts.into_iter().take(table))
}

impl fmt::Display for SharedFolders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for SharedFolders {
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        match self.seen(prefix) {
            Ok(()) => self.0.list(prefix),
            Err(error) => futures::stream::once(async { Err(error) }).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> object_store::Result<ListResult> {
        self.seen(prefix)?;
        self.0.list_with_delimiter(prefix).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> object_store::Result<GetResult> {
        self.0.get_opts(location, options).await
    }

    async fn put_opts(&self, to: &Path, payload: PutPayload, options: PutOptions) -> object_store::Result<PutResult> {
        self.0.put_opts(to, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(to, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        self.0.delete_stream(locations)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> object_store::Result<()> {
        self.0.copy_opts(from, to, options).await
    }
}

#[cfg(test)]
mod tests {
    use futures::TryStreamExt;

    use super::*;

    fn listed(folder: &std::path::Path, below: &str) -> object_store::Result<Vec<ObjectMeta>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let prefix = Path::from_absolute_path(folder).unwrap();
        let prefix = below.split('/').fold(prefix, |path, part| path.join(part));
        let url = Url::parse("file:///").unwrap();
        let store = Stores::new().get_store(&url).unwrap();
        runtime.block_on(store.list(Some(&prefix)).try_collect())
    }

    #[test]
    fn a_table_that_a_dataset_does_not_have_is_empty() {
        let dataset = tempfile::tempdir().unwrap();
        assert!(listed(dataset.path(), "rpcs").unwrap().is_empty());
        assert!(listed(dataset.path(), "rpcs/fs=lustre/node=oss1").unwrap().is_empty());
    }

    #[test]
    fn a_dataset_that_this_host_does_not_see_is_an_error_that_names_it() {
        let parent = tempfile::tempdir().unwrap();
        for below in ["unmounted/rpcs", "unmounted/rpcs/fs=lustre/node=oss1"] {
            let error = listed(parent.path(), below).unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            let folder = parent.path().join("unmounted");
            assert!(cause.starts_with(&format!("`{}` is not there on this host", folder.display())), "{cause}");
        }
    }
}
