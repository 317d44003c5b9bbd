//! Builds one message, byte by byte: a log of a busy server is millions of these.

/// Appends the pieces of a message in the kernel's printf notations.
pub struct Line<'a>(&'a mut Vec<u8>);

impl<'a> Line<'a> {
    /// Starts to append to `buffer`.
    pub fn new(buffer: &'a mut Vec<u8>) -> Self {
        Self(buffer)
    }

    /// `%s`.
    pub fn s(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// `%u`.
    pub fn u(&mut self, number: impl Into<u64>) -> &mut Self {
        self.0.extend_from_slice(itoa::Buffer::new().format(number.into()).as_bytes());
        self
    }

    /// `%d`.
    pub fn d(&mut self, number: impl Into<i64>) -> &mut Self {
        self.0.extend_from_slice(itoa::Buffer::new().format(number.into()).as_bytes());
        self
    }

    /// `%x`.
    pub fn x(&mut self, number: impl Into<u64>) -> &mut Self {
        let number = number.into();
        let digits = (64 - number.leading_zeros()).div_ceil(4).max(1);
        self.hex(number, digits)
    }

    /// `%#x`, with `0x0` for nothing, as Linux prints it.
    pub fn hx(&mut self, number: impl Into<u64>) -> &mut Self {
        self.s("0x").x(number)
    }

    /// `%p` of a hashed kernel pointer: sixteen digits, the upper eight are zero.
    pub fn p(&mut self, pointer: u32) -> &mut Self {
        self.s("00000000").hex(u64::from(pointer), 8)
    }

    /// `[0xSEQ:0xOID:0x0]`, a FID or the first three words of a resource name.
    pub fn fid(&mut self, words: (u64, u64)) -> &mut Self {
        self.s("[").hx(words.0).s(":").hx(words.1).s(":0x0]")
    }

    fn hex(&mut self, number: u64, digits: u32) -> &mut Self {
        for place in (0..digits).rev() {
            let nibble = usize::try_from((number >> (4 * place)) & 0xf).unwrap_or(0);
            self.0.push(b"0123456789abcdef"[nibble]);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations() {
        let mut buffer = Vec::new();
        Line::new(&mut buffer).s("a ").u(7u32).s(" ").d(-2).s(" ").x(0u32).s(" ").hx(0x1f0u32).s(" ").p(0xab);
        Line::new(&mut buffer).s(" ").fid((0x2_8000_0400, 4));
        assert_eq!(String::from_utf8_lossy(&buffer), "a 7 -2 0 0x1f0 00000000000000ab [0x280000400:0x4:0x0]");
    }
}
