// Talks to meterd. Every answer of 400 and above is {"code", "message", "next"}.

export class Refusal extends Error {
  constructor(status, body) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.next = body.next;
  }

  /** What went wrong and what to do. */
  get words() { return this.next ? `${this.message}: ${this.next}` : this.message; }
}

export async function call(method, path, body) {
  const options = { method, headers: {}, cache: "no-store" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refusal(0, { code: "unreachable", message: "meterd does not answer", next: "see whether it runs" });
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    if (response.status === 401) document.dispatchEvent(new CustomEvent("login-needed"));
    throw new Refusal(response.status, {
      code: answer.code ?? "unknown", message: answer.message ?? `meterd answered ${response.status}`,
      next: answer.next ?? "",
    });
  }
  return answer;
}

// Servers in front may turn %2F into a slash: meterd reads ~2F as the same.
export const meterPath = (id, rest = "") => `v1/meters/${encodeURIComponent(id).replaceAll("%2F", "~2F")}${rest}`;
