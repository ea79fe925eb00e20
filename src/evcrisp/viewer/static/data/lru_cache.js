// Cache of the most recently used bundles, limited in number and bytes.

const MAX_BYTES = 96e6;

function sizeOf(bundle) {
  return Object.values(bundle).reduce((sum, value) => sum + (value?.buffer ? value.byteLength : 0), 0);
}

export class LruCache {
  constructor(maxCount) {
    this.maxCount = maxCount;
    this.entries = new Map();
    this.bytes = 0;
  }

  get(key) {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.bundle;
  }

  set(key, bundle) {
    const bytes = sizeOf(bundle);
    this.remove(key);
    this.entries.set(key, { bundle, bytes });
    this.bytes += bytes;
    while (this.entries.size > 1 && (this.entries.size > this.maxCount || this.bytes > MAX_BYTES)) {
      this.remove(this.entries.keys().next().value);
    }
  }

  remove(key) {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }

  clear() {
    this.entries.clear();
    this.bytes = 0;
  }
}
