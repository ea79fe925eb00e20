// Parse a frame: size of the JSON, JSON, three pictures of one byte per pixel.

export function parseFrame(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  const pictures = [];
  if (head.shape) {
    const n = head.shape[0] * head.shape[1];
    for (let k = 0; k < 3; k += 1) pictures.push(new Uint8Array(buffer, 4 + size + k * n, n));
  }
  return { head, pictures };
}
