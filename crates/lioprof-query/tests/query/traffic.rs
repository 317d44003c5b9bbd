//! The rules of `lioprof_model::traffic` say the same of rows and in SQL.

use lioprof_model::traffic::{self, OperationClass, sql};
use lustre_debuglog::{Opcode, TargetName};

use crate::support::{PING_PONG, tuples};

#[test]
fn rows_and_sql_are_ruled_alike() {
    let targets = [None, Some("lustre-OST0001"), Some("lustre-MDT0000"), Some("MGS")];
    let threads = ["ll_ost_io00_002", "mdt_io00_001", "mdt00_017", "ll_mgs_0002", "ldlm_cn00_000", "ptlrpcd_00_01"];
    let uuids = [
        "lustre-MDT0000-mdtlov_UUID",
        "lustre-MDT0000-lwp-OST0001_UUID",
        "b2df25ce-5f2c-45c8-8c82-6364f185437c",
        "lustre-MDT0000-mdtlov_UUID-2",
        "",
        "0",
    ];
    let opcodes = Opcode::ALL.iter().copied().chain([Opcode(99), Opcode(150), Opcode(999)]);
    let mut rows = Vec::new();
    let mut expected = Vec::new();
    for (at, opcode) in opcodes.enumerate() {
        for target in targets {
            let (thread, uuid) = (threads[at % threads.len()], uuids[at % uuids.len()]);
            let quoted = target.map_or_else(|| "CAST(NULL AS VARCHAR)".to_owned(), |target| format!("'{target}'"));
            rows.push(format!("({}, {}, {quoted}, '{thread}', '{uuid}')", rows.len(), opcode.0));
            let parsed = target.and_then(|target| TargetName::parse_bytes(target.as_bytes()));
            expected.push(vec![
                OperationClass::of(opcode).name().to_owned(),
                traffic::is_on_mdt(parsed, thread.as_bytes()).to_string(),
                traffic::is_from_server(uuid.as_bytes()).to_string(),
                String::from_utf8(traffic::service_name(thread.as_bytes()).to_vec()).unwrap(),
            ]);
        }
    }
    let question = format!(
        "SELECT {} AS class, {} AS on_mdt, {} AS from_server, {} AS service
         FROM (VALUES {}) AS rows (at, opcode, target, thread, uuid) ORDER BY at",
        sql::OPERATION_CLASS,
        sql::ON_MDT,
        sql::from_server("uuid"),
        sql::SERVICE,
        rows.join(", ")
    );
    assert_eq!(tuples(&PING_PONG.session(), &question), expected);
}
