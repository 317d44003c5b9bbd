// Runs SQL on a trace with Perfetto's own trace_processor, built for browsers: the program that the Perfetto UI loads traces with.
//   node perfetto-query.mjs FOLDER TRACE < QUERIES.json > RESULTS.json
// FOLDER holds trace_processor.wasm, engine_bundle.node.js and engine.mjs. QUERIES is an array of SQL texts, RESULTS one of arrays of rows.
// Used by scripts/check-perfetto.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import vm from 'node:vm';

const [folder, trace] = process.argv.slice(2);

// What the bundle expects of a web worker.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = {href: 'file:///engine.js'};
globalThis.XMLHttpRequest = class {
    open() {}
    send() { this.response = new Uint8Array(fs.readFileSync(path.join(folder, 'trace_processor.wasm'))).buffer; }
};
vm.runInThisContext(fs.readFileSync(path.join(folder, 'engine_bundle.node.js'), 'utf8'));
const {EngineBase} = await import(pathToFileURL(path.resolve(folder, 'engine.mjs')));

const {port1, port2} = new MessageChannel();
class Engine extends EngineBase {
    mode = 'WASM';
    rpcSendRequestBytes(data) { port1.postMessage(data); }
}
const engine = new Engine();
port1.onmessage = (message) => engine.onRpcResponseBytes(message.data);
// The runtime starts on its own; requests wait in the port until it can take them.
await new Promise((started) => setTimeout(started, 100));
self.onmessage({data: port2});

await engine.parse(new Uint8Array(fs.readFileSync(trace)));
await engine.notifyEof();
const results = [];
for (const sql of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    const result = await engine.query(sql);
    const columns = result.columns();
    const rows = [];
    for (const row = result.iter({}); row.valid(); row.next()) {
        rows.push(columns.map((column) => row.get(column)));
    }
    results.push(rows);
}
process.stdout.write(JSON.stringify(results, (_, value) => (typeof value === 'bigint' ? Number(value) : value)));
process.exit(0);
