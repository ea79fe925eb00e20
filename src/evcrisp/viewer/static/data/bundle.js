// Read bundles: "EVB1", length of the header, header as JSON, arrays.

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };

export function readBundle(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8 || view.getUint32(0, false) !== 0x45564231) {
    throw new Error("The data of this page are damaged.");
  }
  const size = view.getUint32(4, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  for (const [name, { type, offset, length, delta }] of Object.entries(facts.arrays)) {
    const array = new TYPES[type](buffer, 8 + size + offset, length);
    if (delta) for (let k = 1; k < length; k++) array[k] += array[k - 1];
    facts[name] = array;
  }
  return facts;
}
