//! Error numbers.

use std::fmt;

/// The number of an error as Lustre sends and prints it, without the sign: those of x86 Linux on every machine
/// (`lustre/include/uapi/linux/lustre/lustre_errno.h`). Open: numbers this crate does not know are kept and print as `error 999`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Errno(pub u32);

/// One line per error: from it come the constant, its name and what it means.
macro_rules! errors {
    ($($name:ident = $number:literal, $what:literal;)+) => {
        impl Errno {
            $(#[doc = $what] pub const $name: Self = Self($number);)+

            /// Every error that has a name, in numeric order.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name in C, for example `EDQUOT`.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)+
                    _ => None,
                }
            }

            /// What it means, as the end of a sentence.
            #[must_use]
            pub const fn meaning(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($what),)+
                    _ => None,
                }
            }
        }
    };
}

errors! {
    EPERM = 1, "not permitted";
    ENOENT = 2, "no such file or object";
    EINTR = 4, "interrupted";
    EIO = 5, "input or output error";
    ENXIO = 6, "no such device or address";
    E2BIG = 7, "too much at once";
    EBADF = 9, "bad file";
    EAGAIN = 11, "try again";
    ENOMEM = 12, "out of memory";
    EACCES = 13, "permission denied";
    EFAULT = 14, "bad address";
    EBUSY = 16, "busy";
    EEXIST = 17, "it exists already";
    EXDEV = 18, "it lies on another device";
    ENODEV = 19, "no such device";
    ENOTDIR = 20, "no directory";
    EISDIR = 21, "a directory";
    EINVAL = 22, "invalid argument";
    ETXTBSY = 26, "the program is running";
    EFBIG = 27, "the file is too large";
    ENOSPC = 28, "no space left";
    EROFS = 30, "the file system is read-only";
    EMLINK = 31, "too many links";
    ERANGE = 34, "out of range";
    EDEADLK = 35, "deadlock";
    ENAMETOOLONG = 36, "the name is too long";
    ENOLCK = 37, "no more locks";
    ENOTEMPTY = 39, "the directory is not empty";
    ELOOP = 40, "too many symbolic links";
    ENODATA = 61, "no such attribute";
    EREMOTE = 66, "it lies on another server";
    EPROTO = 71, "protocol error";
    EBADMSG = 74, "bad message";
    EOVERFLOW = 75, "too large for its type";
    EBADFD = 77, "the file is in a bad state";
    EOPNOTSUPP = 95, "not supported";
    ENOTCONN = 107, "not connected";
    ESHUTDOWN = 108, "shut down";
    ETIMEDOUT = 110, "timed out";
    EHOSTUNREACH = 113, "the host is not reached";
    EALREADY = 114, "already under way";
    EINPROGRESS = 115, "in progress";
    ESTALE = 116, "the file or object is gone";
    EDQUOT = 122, "over quota";
    ECANCELED = 125, "cancelled";
    EOWNERDEAD = 130, "its owner is gone";
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "error {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_order_and_named() {
        assert!(Errno::ALL.is_sorted_by(|a, b| a < b));
        assert_eq!((Errno(122).to_string().as_str(), Errno(122).meaning()), ("EDQUOT", Some("over quota")));
        assert_eq!((Errno(999).to_string().as_str(), Errno(999).meaning()), ("error 999", None));
    }
}
