//! The formats.

use std::io::Write;

use datafusion::parquet::file::reader::{FileReader, SerializedFileReader};
use datafusion::parquet::record::Field;
use lioprof_query::{Bound, Format, QueryError, Written};

use crate::support::{PING_PONG, wait};

/// What a format makes of an answer.
fn written(sql: &str, format: Format, max_rows: Option<usize>) -> (Vec<u8>, Written) {
    let (session, sql) = (PING_PONG.session(), sql.to_owned());
    wait(async move {
        let mut out = Vec::new();
        let statement = session.statements(&sql)?.remove(0);
        let frame = session.plan(statement, Bound::default()).await?;
        let written = session.write(frame, format, max_rows, &mut out).await?;
        Ok::<_, QueryError>((out, written))
    })
    .unwrap()
}

fn text(sql: &str, format: Format) -> String {
    String::from_utf8(written(sql, format, None).0).unwrap()
}

/// Every kind of value that the views have, and each unknown.
const VALUES: &str = "SELECT * FROM (VALUES
    (1, 2.5, 'a,\"b\"', TIMESTAMP '2026-11-21 08:51:22.5', true),
    (NULL, NULL, NULL, NULL, NULL)
) AS t (n, x, text, time, flag)";

#[test]
fn csv() {
    assert_eq!(
        text(VALUES, Format::Csv),
        "n,x,text,time,flag\n1,2.5,\"a,\"\"b\"\"\",2026-11-21T08:51:22.500,true\n,,,,\n"
    );
    assert_eq!(text("SELECT 1 AS n WHERE false", Format::Csv), "n\n");
}

#[test]
fn json() {
    assert_eq!(
        text(VALUES, Format::Json),
        "{\"n\":1,\"x\":2.5,\"text\":\"a,\\\"b\\\"\",\"time\":\"2026-11-21T08:51:22.500\",\"flag\":true}\n\
         {\"n\":null,\"x\":null,\"text\":null,\"time\":null,\"flag\":null}\n"
    );
    assert_eq!(text("SELECT 1 AS n WHERE false", Format::Json), "");
}

#[test]
fn table() {
    assert_eq!(
        text(VALUES, Format::Table),
        "   n     x  text   time                     flag\n\
         \x20  1   2.5  a,\"b\"  2026-11-21T08:51:22.500  true\n\
         NULL  NULL  NULL   NULL                     NULL\n"
    );
    assert_eq!(text("SELECT 1 AS n WHERE false", Format::Table), "n\n");
    // What a client calls its job does not steer the terminal.
    assert_eq!(text("SELECT chr(27) || '[2J' || chr(13) AS job", Format::Table), "job\n\\u{1b}[2J\\r\n");
}

#[test]
fn a_table_shows_the_first_rows() {
    let sql = "SELECT seq FROM rpcs ORDER BY seq";
    let (out, shown) = written(sql, Format::Table, Some(2));
    assert_eq!((out.iter().filter(|&&b| b == b'\n').count(), shown), (3, Written { rows: 2, more: true }));
    let rpcs = usize::try_from(PING_PONG.analysis.totals.rpcs).unwrap();
    assert_eq!(written(sql, Format::Table, Some(rpcs)).1, Written { rows: rpcs, more: false });
    assert_eq!(written(sql, Format::Csv, Some(2)).1, Written { rows: rpcs, more: false });
}

#[test]
fn parquet_can_be_read_again() {
    let (out, shown) = written("SELECT * FROM rpcs", Format::Parquet, None);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&out).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let bytes: i64 = reader
        .get_row_iter(None)
        .unwrap()
        .flat_map(|row| row.unwrap().into_columns())
        .filter_map(|(name, value)| match value {
            Field::ULong(bytes) if name == "bytes" => i64::try_from(bytes).ok(),
            _ => None,
        })
        .sum();
    let totals = &PING_PONG.analysis.totals;
    assert_eq!(u64::try_from(bytes).unwrap(), totals.read.bytes + totals.write.bytes);
    assert_eq!(reader.metadata().file_metadata().num_rows(), i64::try_from(shown.rows).unwrap());
}
