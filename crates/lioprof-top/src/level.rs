//! What is listed.

/// A list to begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum View {
    /// OSTs and MDTs.
    #[default]
    Osts,
    /// Clients.
    Clients,
    /// Jobs.
    Jobs,
    /// Objects, first those that clients fight over.
    Objects,
    /// Who waits for whom.
    Waits,
}

impl View {
    /// All, in the order of their keys.
    pub(crate) const ALL: [Self; 5] = [Self::Osts, Self::Clients, Self::Jobs, Self::Objects, Self::Waits];

    /// The word on its tab.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Osts => "OSTs",
            Self::Clients => "clients",
            Self::Jobs => "jobs",
            Self::Objects => "objects",
            Self::Waits => "waits",
        }
    }
}

/// A list: a view, or what belongs to one of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    View(View),
    /// Clients of a target.
    ClientsOf {
        target: Option<String>,
        server: Option<String>,
    },
    /// Objects that a client uses, of one target or all.
    ObjectsOf {
        nid: String,
        target: Option<String>,
    },
    /// Clients that use an object.
    UsersOf {
        target: String,
        object: String,
    },
}

impl Level {
    /// What the list has, for a title.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::View(View::Osts) => "OSTs and MDTs".to_owned(),
            Self::View(View::Clients) => "Clients".to_owned(),
            Self::View(View::Jobs) => "Jobs".to_owned(),
            Self::View(View::Objects) => "Objects, those first that clients fight over".to_owned(),
            Self::View(View::Waits) => "Who waits for whose locks".to_owned(),
            Self::ClientsOf { target, .. } => format!("Clients of {}", target.as_deref().unwrap_or("unknown targets")),
            Self::ObjectsOf { nid, target: None } => format!("Objects that {nid} uses"),
            Self::ObjectsOf { nid, target: Some(target) } => format!("Objects of {target} that {nid} uses"),
            Self::UsersOf { target, object } => format!("Clients that use {object} of {target}"),
        }
    }
}
