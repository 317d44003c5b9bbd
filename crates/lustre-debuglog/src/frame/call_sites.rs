//! Call sites that were seen before.
//!
//! Every record names the file and the function that logged it, and a whole log comes from a few dozen
//! places in the source. Names that passed the test once need no second one, only a comparison.
//!
//! Hot: asked for every record.

/// Slots of the memory: as many as a `u8` has values, so that no index needs a check.
const SLOTS: usize = 256;
/// Longest text kept. Nearly all are shorter; the others are tested each time.
const MAX_TEXT: usize = 84;

/// What a header says about its call site, where that is a text that passed the test.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSite {
    text: [u8; MAX_TEXT],
    /// How much of it must be the same; 0: no site.
    known_len: u8,
    /// Length of the site itself.
    len: u8,
    file_len: u8,
    function_at: u8,
    function_len: u8,
    line: u32,
}

/// Where the names stand in a site's text. The file's name comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SiteNames {
    pub(super) file_len: usize,
    pub(super) function_at: usize,
    pub(super) function_len: usize,
    /// Length of the whole text.
    pub(super) len: usize,
    /// Line in the file, if the text names it.
    pub(super) line: u32,
}

impl SiteNames {
    /// Names as the binary form has them, each with a NUL behind it.
    #[inline(always)]
    pub(super) fn between_nuls(file_len: usize, function_len: usize) -> Self {
        let function_at = file_len + 1;
        Self { file_len, function_at, function_len, len: function_at + function_len + 1, line: 0 }
    }
}

/// Remembers sites. Each has two places where it may be, so that hardly any two drive each other out.
#[derive(Clone, Debug)]
pub(super) struct CallSites(Box<[CallSite; SLOTS]>);

impl CallSites {
    pub(super) fn new() -> Self {
        let none = CallSite {
            text: [0; MAX_TEXT],
            known_len: 0,
            len: 0,
            file_len: 0,
            function_at: 0,
            function_len: 0,
            line: 0,
        };
        Self(Box::new([none; SLOTS]))
    }

    /// The names of the site at the start of `data`, if it was remembered under this hash.
    #[inline(always)]
    pub(super) fn find(&self, Hash([first, second]): Hash, data: &[u8]) -> Option<SiteNames> {
        self.0[usize::from(first)].at_start_of(data).or_else(|| self.0[usize::from(second)].at_start_of(data))
    }

    /// Remembers the site at the start of `data`, unless its text is too long. It stands where the first `known_len` bytes are the same.
    #[cold]
    pub(super) fn remember(&mut self, Hash([first, second]): Hash, data: &[u8], known_len: usize, names: SiteNames) {
        let Some(site) = CallSite::new(data, known_len, names) else { return };
        let taken = self.0[usize::from(first)].known_len > 0;
        self.0[usize::from(if taken { second } else { first })] = site;
    }
}

impl CallSite {
    fn new(data: &[u8], known_len: usize, names: SiteNames) -> Option<Self> {
        let mut text = [0; MAX_TEXT];
        text.get_mut(..known_len)?.copy_from_slice(data.get(..known_len)?);
        let narrow = |n: usize| u8::try_from(n).ok();
        Some(Self {
            text,
            known_len: narrow(known_len)?,
            len: narrow(names.len)?,
            file_len: narrow(names.file_len)?,
            function_at: narrow(names.function_at)?,
            function_len: narrow(names.function_len)?,
            line: names.line,
        })
    }

    #[inline(always)]
    fn at_start_of(&self, data: &[u8]) -> Option<SiteNames> {
        let known_len = usize::from(self.known_len);
        if known_len == 0 || !data.starts_with(&self.text[..known_len]) {
            return None;
        }
        Some(SiteNames {
            file_len: self.file_len.into(),
            function_at: self.function_at.into(),
            function_len: self.function_len.into(),
            len: self.len.into(),
            line: self.line,
        })
    }
}

/// Where a site may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash([u8; 2]);

impl Hash {
    /// From a key that tells call sites apart.
    #[inline(always)]
    pub(super) fn new(key: u64) -> Self {
        // The highest bits of the product depend on all of the key's.
        let [first, second, ..] = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        Self([first, second])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: SiteNames = SiteNames { file_len: 3, function_at: 4, function_len: 1, len: 6, line: 7 };

    /// A site of seven bytes.
    fn text(n: u8) -> [u8; 7] {
        [b'a' + n, b'.', b'c', 0, b'f', 0, b'x']
    }

    #[test]
    fn only_the_same_text_is_found() {
        let mut sites = CallSites::new();
        let hash = Hash([9, 77]);
        assert_eq!(sites.find(hash, b""), None);
        sites.remember(hash, &text(0), 6, NAMES);
        assert_eq!(sites.find(hash, &text(0)), Some(NAMES));
        assert_eq!(sites.find(hash, &text(0)[..6]), Some(NAMES));
        for other in [&text(0)[..5], &text(1), b""] {
            assert_eq!(sites.find(hash, other), None);
        }
        assert_eq!(sites.find(Hash([8, 76]), &text(0)), None);
    }

    #[test]
    fn sites_with_the_same_place_do_not_drive_each_other_out() {
        let mut sites = CallSites::new();
        let hash = |n: u8| Hash([9, 10 + n]);
        (0..4).for_each(|n| sites.remember(hash(n), &text(n), 6, NAMES));
        (0..4).for_each(|n| assert_eq!(sites.find(hash(n), &text(n)), Some(NAMES)));
        sites.remember(hash(3), &text(5), 6, NAMES);
        assert_eq!(sites.find(hash(3), &text(3)), None);
        assert_eq!(sites.find(hash(3), &text(5)), Some(NAMES));
    }

    #[test]
    fn long_texts_are_not_kept() {
        let mut sites = CallSites::new();
        let text = [b'x'; 2 * MAX_TEXT];
        let hash = Hash::new(9);
        for len in [MAX_TEXT + 1, 2 * MAX_TEXT, 3 * MAX_TEXT, 300] {
            sites.remember(hash, &text, len, SiteNames { len, ..NAMES });
            assert_eq!(sites.find(hash, &text), None);
        }
        sites.remember(hash, &text, MAX_TEXT, SiteNames { len: MAX_TEXT, ..NAMES });
        assert_eq!(sites.find(hash, &text), Some(SiteNames { len: MAX_TEXT, ..NAMES }));
    }
}
