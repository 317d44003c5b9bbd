//! docs/queries.md: its SQL runs, its commands are there, and what it says of views and ready queries is so.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use lioprof_query::{Session, VIEWS, ready};

use crate::rollups::roll_up_all;
use crate::support::{PING_PONG, Rows, ask, repository};

fn page() -> String {
    read("docs/queries.md")
}

fn read(page: &str) -> String {
    fs::read_to_string(repository().join(page)).unwrap()
}

/// SQL of a page has rows. Returns how many blocks there are.
fn run_sql(page: &str, session: &Session) -> usize {
    let queries: Vec<&str> = page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    for sql in &queries {
        assert!(!ask(session, sql).is_empty(), "no rows from\n{sql}");
    }
    queries.len()
}

#[test]
fn every_sql_of_the_page_has_rows() {
    assert!(run_sql(&page(), &PING_PONG.session()) >= 5);
}

#[test]
fn the_example_of_flows_has_all_known_bytes() {
    // Flows whose writes all have no size, while their reads do.
    let rows = Rows::of("dk_plain");
    let page = page();
    let section = page.split("### `flows`").nth(1).unwrap();
    let sql = section.split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    let bytes: u64 = ask(&rows.session(), sql).iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
    let known = ask(&rows.session(), "SELECT sum(bytes) AS bytes FROM rpcs WHERE opcode IN (3, 4)");
    assert_eq!(bytes, known[0]["bytes"].as_u64().unwrap());
}

#[test]
fn sql_over_rollups_has_rows() {
    let rows = Rows::of("lock_pingpong_dlm");
    roll_up_all(rows.path());
    assert!(run_sql(&read("docs/rollups.md"), &rows.session()) >= 1);
}

#[test]
fn every_column_of_a_view_is_on_the_page() {
    let page = page();
    let session = PING_PONG.session();
    for view in VIEWS.iter() {
        let section =
            page.split(&format!("### `{}`", view.name)).nth(1).unwrap_or_else(|| panic!("no view {}", view.name));
        let section = section.split("\n#").next().unwrap();
        let sql = format!(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '{}'",
            view.name
        );
        for row in ask(&session, &sql) {
            let column = row["column_name"].as_str().unwrap();
            assert!(section.contains(&format!("`{column}`")), "{}: {column}", view.name);
        }
    }
}

#[test]
fn every_ready_query_is_on_the_page() {
    let page = page();
    for query in ready::all() {
        assert!(
            page.contains(&format!("| `{}` | {} |", query.name, query.question)),
            "| `{}` | {} |",
            query.name,
            query.question
        );
    }
}

/// Blocks of a command and what it prints.
const EXAMPLE: &str = "```console\n$ ";

/// The page with what its commands really print.
fn run_examples(page: &str, folder: &Path) -> String {
    let mut parts = page.split(EXAMPLE);
    let mut real = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (example, rest) = part.split_once("```").unwrap();
        let command = example.lines().next().unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_lioprof-query")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let output = Command::new("sh").args(["-c", command]).env("PATH", path).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        real.push_str(&format!("{EXAMPLE}{command}\n{printed}```{rest}"));
    }
    real
}

#[test]
fn every_example_is_what_the_command_prints() {
    let folder = tempfile::tempdir().unwrap();
    let (evicted, files) = (Rows::of("eviction_clean"), Rows::of("masks"));
    for (name, rows) in [("rows", &*PING_PONG), ("evicted", &evicted), ("files", &files)] {
        symlink(rows.path(), folder.path().join(name)).unwrap();
    }
    let page = page();
    let real = run_examples(&page, folder.path());
    if std::env::var_os("LIOPROF_BLESS").is_some() {
        fs::write(repository().join("docs/queries.md"), &real).unwrap();
    }
    assert!(page.matches(EXAMPLE).count() > ready::all().len());
    assert!(page == real, "docs/queries.md does not show what commands print (LIOPROF_BLESS=1 puts it right)");
}
