//! What `--version` says.

use std::fmt;

/// The commit of the sources, 40 hexadecimal digits (64 in a repository of SHA-256), or `unknown` where neither git nor the archive that
/// the sources came in told. Changes on top of the commit are not seen.
pub const COMMIT: &str = env!("LIOPROF_COMMIT");

/// A build of a command: what `--version` prints behind the name.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a> {
    /// Of the package.
    pub number: &'a str,
    /// All features of the command, and whether they are in.
    pub features: &'a [(&'a str, bool)],
    /// The schemas of what it writes, with their numbers (`lioprof.analysis/1`).
    pub schemas: &'a [&'a str],
}

impl fmt::Display for Version<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let features: Vec<&str> = self.features.iter().filter(|(_, is_in)| *is_in).map(|(name, _)| *name).collect();
        let features = if features.is_empty() { "none".to_owned() } else { features.join(" ") };
        writeln!(f, "{}", self.number)?;
        writeln!(f, "commit: {COMMIT}")?;
        writeln!(f, "features: {features}")?;
        write!(f, "schemas: {}", self.schemas.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::{COMMIT, Version};

    #[test]
    fn names_the_features_that_are_in() {
        let version =
            Version { number: "1.2.3", features: &[("daemon", true), ("replay", false)], schemas: &["a/1", "b/2"] };
        assert_eq!(version.to_string(), format!("1.2.3\ncommit: {COMMIT}\nfeatures: daemon\nschemas: a/1 b/2"));
        let version = Version { number: "1.2.3", features: &[("daemon", false)], schemas: &["a/1"] };
        assert!(version.to_string().contains("features: none\n"), "{version}");
    }

    #[test]
    fn the_commit_is_the_one_that_is_checked_out() {
        let here = env!("CARGO_MANIFEST_DIR");
        let git = |args: &[&str]| {
            let output = std::process::Command::new("git").current_dir(here).args(args).output().ok()?;
            output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
        };
        // Without a clone there is nothing to compare with.
        if git(&["ls-files", "--error-unmatch", "COMMIT"]).is_some() {
            assert_eq!(Some(COMMIT.to_owned()), git(&["rev-parse", "HEAD"]));
        }
    }
}
