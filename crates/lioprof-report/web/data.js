// The data of the page, as crates/lioprof-report wrote them, and how its numbers are packed.

const DATA = JSON.parse(document.getElementById("data").textContent);

function bytesOf(base64) {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) out[i] = text.charCodeAt(i);
  return out;
}

/** Numbers to draw (`Dense` in Rust); none: `length` zeros. */
function dense(base64, length = 0) {
  return base64 === undefined || base64 === null ? new Float32Array(Math.max(0, length)) : new Float32Array(bytesOf(base64).buffer);
}

/** Amounts to three digits (`Rough` in Rust). */
function rough(base64) {
  return Float32Array.from(new Uint16Array(bytesOf(base64).buffer), (step) => 2 ** (step / 1000) - 1);
}

/** Numbers with all digits (`Precise` in Rust). */
function precise(base64) {
  return new Float64Array(bytesOf(base64).buffer);
}
