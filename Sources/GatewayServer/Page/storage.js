// What this browser remembers of how somebody likes the page.

export function remembered(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

export function remember(key, value) {
  try { localStorage.setItem(key, value); } catch { /* Without storage it lasts until the page is left. */ }
}
