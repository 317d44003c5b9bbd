//! Records as bytes of a binary log.

use lustre_debuglog::Record;
use lustre_debuglog::frame::HeaderLayout;
use lustre_debuglog::frame::text::{TextItem, TextRecords};

/// Size of the fixed header (`struct ptldebug_header`).
const HEADER_LEN: usize = 48;

/// Appends a record as the kernel writes it, with its length as it is now.
pub(crate) fn append(record: &Record<'_>, layout: HeaderLayout, out: &mut Vec<u8>) {
    let mut put = |number: u32| {
        out.extend_from_slice(&if layout.big_endian { number.to_be_bytes() } else { number.to_le_bytes() });
    };
    put(u32::try_from(record.binary_len()).unwrap_or(u32::MAX));
    put(u32::from(record.first));
    put(record.subsystem);
    put(record.mask);
    let context = record.context.map_or(0, |context| context as u32);
    put(match layout {
        HeaderLayout { v1: true, .. } => record.cpu,
        HeaderLayout { big_endian: false, .. } => record.cpu & 0xffff | context << 16,
        HeaderLayout { big_endian: true, .. } => record.cpu << 16 | context,
    });
    put(u32::try_from(record.time_us.div_euclid(1_000_000)).unwrap_or(0));
    let micros = u32::try_from(record.time_us.rem_euclid(1_000_000)).unwrap_or(0);
    let halves = if layout.big_endian { [0, micros] } else { [micros, 0] };
    halves.into_iter().chain([record.stack, record.pid, record.extern_pid, record.line]).for_each(put);
    for name in [record.file, record.function] {
        out.extend_from_slice(name);
        out.push(0);
    }
    out.extend_from_slice(record.text);
}

/// The same record; names that can be none of a source file or a function are replaced.
///
/// A binary log is read only with names of this form, text also with others.
pub(crate) fn with_safe_names<'a>(record: Record<'a>) -> Record<'a> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'$');
    let is_file = record.file.len() <= 63
        && matches!(record.file, [.., b'.', b'c' | b'h' | b'y' | b'l'])
        && record.file.iter().all(is_part);
    let is_function = record.function.len() <= 127
        && record.function.iter().all(is_part)
        && !record.function.contains(&b'-')
        && !record.function.first().is_some_and(u8::is_ascii_digit);
    Record {
        file: if is_file { record.file } else { b"removed.c" },
        function: if is_function { record.function } else { b"removed" },
        ..record
    }
}

/// Length of the header and the names that stand at the start of `bytes`; 0 if they do not.
pub(crate) fn binary_head_len(bytes: &[u8]) -> usize {
    let name_end = |from: usize| memchr::memchr(0, bytes.get(from..)?).map(|len| from + len + 1);
    let end = name_end(HEADER_LEN).and_then(name_end).filter(|end| *end <= HEADER_LEN + 256);
    let is_printable = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'$' | 0);
    end.filter(|end| bytes[HEADER_LEN..*end].iter().all(is_printable)).unwrap_or(0)
}

/// Length of the text header at the start of `line`; 0 if there is none.
pub(crate) fn text_header_len(line: &[u8]) -> usize {
    match TextRecords::new(line).next() {
        Some(TextItem::Record(record, 0)) => {
            let safe = with_safe_names(record);
            let at = (record.text.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
            if (safe.file, safe.function) == (record.file, record.function) { at } else { 0 }
        }
        _ => 0,
    }
}
