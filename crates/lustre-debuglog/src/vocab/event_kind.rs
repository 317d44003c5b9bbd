//! What a sentence of the kernel log tells.

use super::words::words;

words! {
    /// What a sentence of the kernel log, or a console line of the debug log, tells.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    EventKind;
    /// A target threw a client out.
    Eviction = "eviction",
    /// A client, which logs this, was thrown out by a target.
    Evicted = "evicted",
    /// A bulk transfer failed: timeout, network error, too few bytes.
    BulkError = "bulk_error",
    /// An RPC that this node sent got no reply in time, or could not be sent.
    RequestTimeout = "request_timeout",
    /// Requests take longer here than clients wait.
    SlowReply = "slow_reply",
    /// A connection was lost, restored, or refused.
    Reconnect = "reconnect",
    /// A target is in recovery, or ends it.
    Recovery = "recovery",
    /// A service thread, or another task of the kernel, hangs.
    HungThread = "hung_thread",
    /// Something failed with `-ENOSPC`.
    NoSpace = "no_space",
    /// A device or a target's file system failed, or became read-only.
    TargetFailed = "target_failed",
    /// An error of LNet or its drivers.
    LnetError = "lnet_error",
    /// `LBUG` or a failed assertion.
    Lbug = "lbug",
    /// Any other error of Lustre.
    Error = "error",
}

impl EventKind {
    /// All kinds, worst for users first.
    pub const ALL: [Self; 13] = [
        Self::Lbug,
        Self::TargetFailed,
        Self::Eviction,
        Self::Evicted,
        Self::NoSpace,
        Self::HungThread,
        Self::BulkError,
        Self::Recovery,
        Self::Reconnect,
        Self::RequestTimeout,
        Self::SlowReply,
        Self::LnetError,
        Self::Error,
    ];

    /// What people call one of it.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Eviction => "eviction",
            Self::Evicted => "evicted client",
            Self::BulkError => "bulk error",
            Self::RequestTimeout => "request timeout",
            Self::SlowReply => "slow request",
            Self::Reconnect => "reconnect",
            Self::Recovery => "recovery step",
            Self::HungThread => "hung thread",
            Self::NoSpace => "ENOSPC error",
            Self::TargetFailed => "device failure",
            Self::LnetError => "LNet error",
            Self::Lbug => "LBUG",
            Self::Error => "other Lustre error",
        }
    }
}
