//! What a client asks an MDT for together with a lock.

/// The bits of an intent (`enum ldlm_intent_flags`, `lustre_idl.h`, the same from 2.5 to 2.17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent(pub u32);

impl Intent {
    const OPEN: u32 = 0x1;
    const GETATTR: u32 = 0x8;

    /// `IT_OPEN`, alone or with `IT_CREAT`: a file is opened.
    #[must_use]
    pub fn is_open(self) -> bool {
        self.0 & Self::OPEN != 0
    }

    /// `IT_GETATTR`: attributes are asked for.
    #[must_use]
    pub fn is_getattr(self) -> bool {
        self.0 == Self::GETATTR
    }
}
