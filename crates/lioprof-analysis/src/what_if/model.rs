//! Models: what the log does not tell, in several ways.

/// Who shares the capacity of a link with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Nobody: a transfer takes as long as it takes, whatever else is under way.
    Nobody,
    /// Transfers of a client.
    Client,
    /// Transfers of a server.
    Node,
    /// All transfers.
    Everybody,
}

/// What the service time of a request whose parts the log does not show is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// The same parts as of requests that the log does show.
    Seen,
    /// It is all transfer.
    AllTransfer,
    /// It is all disk.
    AllDisk,
}

/// How much is taken to be so of what a log cannot tell of a change: what a byte more takes, how much a client reads ahead, how much of a
/// client's pause was for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lean {
    /// As little as can be.
    Least,
    /// Half of it.
    Middle,
    /// As much as can be.
    Most,
}

impl Lean {
    pub(super) const ALL: [Self; 3] = [Self::Least, Self::Middle, Self::Most];

    /// As a share.
    pub(super) fn share(self) -> f64 {
        match self {
            Self::Least => 0.0,
            Self::Middle => 0.5,
            Self::Most => 1.0,
        }
    }
}

/// A model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) transfer: Sharing,
    pub(super) split: Split,
    /// No server and no client moves more than it was seen to move.
    pub(super) capped: bool,
    pub(super) lean: Lean,
}

impl Model {
    pub(super) const fn new(transfer: Sharing, split: Split) -> Self {
        Self { transfer, split, capped: false, lean: Lean::Middle }
    }

    pub(super) const fn capped(self) -> Self {
        Self { capped: true, ..self }
    }

    pub(super) const fn leaning(self, lean: Lean) -> Self {
        Self { lean, ..self }
    }
}

/// All models for a log: what it tells only one of them can contradict.
pub(super) fn models(tells_parts: bool) -> Vec<Model> {
    use Sharing::{Client, Everybody, Nobody, Node};
    let split = if tells_parts { Split::Seen } else { Split::AllTransfer };
    let mut models: Vec<Model> = [Nobody, Client, Node, Everybody].map(|sharing| Model::new(sharing, split)).into();
    models.push(Model::new(Client, split).capped());
    models.push(if tells_parts { Model::new(Nobody, split).capped() } else { Model::new(Nobody, Split::AllDisk) });
    models
}
