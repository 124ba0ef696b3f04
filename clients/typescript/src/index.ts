// A client of the socialdata API. The types are generated from its descriptions; written by hand are pages, problems,
// retries, streams of changes and the verification of webhooks.
import createClient, { type ClientOptions, type FetchResponse, type MaybeOptionalInit, type Middleware } from "openapi-fetch";
import type { MediaType, PathsWithMethod } from "openapi-typescript-helpers";
import type { paths as managed } from "./managing.js";
import type { components, paths } from "./schema.js";

export type { components as ManagingComponents, paths as ManagingPaths } from "./managing.js";
export type { components, operations, paths } from "./schema.js";
export type Schemas = components["schemas"];
/** The stable words that say what kind of problem it is. */
export type Code = Schemas["ProblemCode"];

type Path = PathsWithMethod<paths, "get">;
type Init<P extends Path> = MaybeOptionalInit<paths[P], "get">;
/** The parameters of a call; they may be left out where none is required. */
type Given<I> = undefined extends I ? [init?: I] : [init: I];
/** What a path answers, such as { data: Profile, meta: Meta }. */
export type Answer<P extends Path> = Exclude<NonNullable<FetchResponse<paths[P]["get"], {}, MediaType>["data"]>, string>;
/** The paths that answer in pages. */
export type ListPath = { [P in Path]: paths[P]["get"] extends { parameters: { query?: { cursor?: string } } } ? P : never }[Path];

/** The methods of the routes below /manage. */
export type Method = "get" | "put" | "post" | "delete";
type ManagePath<M extends Method> = PathsWithMethod<managed, M>;
type ManageInit<M extends Method, P extends ManagePath<M>> = MaybeOptionalInit<managed[P], M>;
/** What a route below /manage answers, such as the key that was made; undefined for one that answers nothing. */
export type Managed<M extends Method, P extends ManagePath<M>> = FetchResponse<managed[P][M] & Record<string, unknown>, {}, MediaType>["data"];

/** Which changes are followed: the filters of /v1/changes, and where to begin. */
export type Following = Omit<NonNullable<paths["/v1/changes"]["get"]["parameters"]["query"]>, "cursor" | "limit"> & {
  /** The seq of the last change that is known; without it only changes to come are sent. */
  after?: number;
  /** Ends the stream. */
  signal?: AbortSignal;
};

/** A call that failed. It cost nothing. */
export class Problem extends Error {
  readonly code: Code;
  readonly status: number;
  readonly requestId: string;
  /** Seconds to wait before the next call; undefined when waiting does not help. */
  readonly retryAfter: number | undefined;

  constructor(p: Schemas["Problem"]) {
    super(`${p.code}: ${p.detail}`);
    this.name = "Problem";
    [this.code, this.status, this.requestId, this.retryAfter] = [p.code, p.status, p.request_id, p.retry_after];
  }
}

export interface Options {
  /** The address of the service, such as "https://data.example.com". */
  baseUrl: string;
  /** The API key. */
  key: string;
  /** How often a call is repeated that may succeed later: 3 without it. */
  retries?: number;
  /** The longest pause before a repetition, in seconds: 60 without it. A service that asks for a longer one is not asked again. */
  patience?: number;
  fetch?: (request: Request) => Promise<Response>;
}

/** Returns a client of the service. Each call has an idempotency key: it is charged once, however often it is sent. */
export function socialdata({ baseUrl, key, retries = 3, patience = 60, fetch = (r) => globalThis.fetch(r) }: Options) {
  const repeat = async (request: Request): Promise<Response> => {
    for (let tries = 0; ; tries++) {
      let response: Response | undefined;
      try {
        response = await fetch(request.clone());
      } catch (e) {
        if (tries >= retries || request.signal.aborted) throw e;
      }
      const seconds = response ? pause(response) : 0;
      if (response && (seconds === undefined || seconds > patience || tries >= retries)) return response;
      await response?.body?.cancel();
      await wait(1000 * (seconds || 0.2 * 2 ** tries * (0.5 + Math.random())), request.signal);
    }
  };
  const options: ClientOptions = {
    baseUrl,
    fetch: repeat,
    redirect: "manual", // the key is for this service alone
    querySerializer: { array: { style: "form", explode: false } },
    // The path of a raw read has slashes of its own.
    pathSerializer: (path, params) => path.replace(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(String(params[name])).replaceAll("%2F", name === "path" ? "/" : "%2F")),
  };
  const identify: Middleware = {
    onRequest({ request }) {
      request.headers.set("Authorization", `Bearer ${key}`);
      if (!request.headers.has("Idempotency-Key")) request.headers.set("Idempotency-Key", crypto.randomUUID());
    },
  };
  const client = createClient<paths>(options), manager = createClient<managed>(options);
  client.use(identify);
  manager.use(identify);

  const call = client.GET as (path: Path, init?: unknown) => Promise<Result>;
  const change = manager.request as (method: Method, path: string, init?: unknown) => Promise<Result>;

  /** Makes a call and returns its answer. It throws a Problem when the call fails. */
  async function get<P extends Path>(path: P, ...init: Given<Init<P>>): Promise<Answer<P>> {
    const result = await call(path, init[0]);
    if (result.data === undefined) throw failure(result);
    return result.data as Answer<P>;
  }

  /**
   * Makes, changes or ends what is the account's own, with a key that has the mark manage: keys, monitors, endpoints. It
   * is done once, however often it is sent; when the first answer is lost, a secret in it is null. It throws a Problem
   * when it fails.
   */
  async function manage<M extends Method, P extends ManagePath<M>>(
    method: M, path: P, ...init: Given<ManageInit<M, P>>
  ): Promise<Managed<M, P>> {
    const given = init[0] as { body?: unknown } | undefined;
    const file = typeof given?.body === "string" && { // lines, which are sent as they are
      bodySerializer: (lines: string) => lines, headers: { "Content-Type": "application/x-ndjson" },
    };
    const result = await change(method, path as string, file ? { ...given, ...file } : given);
    if (!result.response.ok || result.error !== undefined) throw failure(result);
    return result.data as Managed<M, P>;
  }

  /** Reads the pages of a list, each with its meta. Each page is a call with its own price. */
  async function* pages<P extends ListPath>(path: P, ...init: Given<Init<P>>): AsyncGenerator<Answer<P>> {
    const first = init[0] as { params?: { query?: { cursor?: string } } } | undefined;
    let cursor = first?.params?.query?.cursor;
    do {
      const query = { ...first?.params?.query, cursor };
      const page = await get(path, ...([{ ...first, params: { ...first?.params, query } }] as unknown as Given<Init<P>>));
      yield page;
      cursor = (page as { meta: Schemas["Meta"] }).meta.next_cursor;
    } while (cursor);
  }

  /** Yields the results of a bulk job behind the line after, by line, and waits for further ones until it is over. */
  async function* bulkResults(name: string, { after = 0, signal }: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<Schemas["BulkResult"]> {
    for (;;) {
      const { data, meta } = await get("/v1/bulkresults", { params: { query: { id: name, after } }, signal });
      for (const result of data) {
        after = result.line;
        yield result;
      }
      if (!meta.next_cursor) return;
      if (!data.length) await wait(1000, signal ?? new AbortController().signal);
    }
  }

  /**
   * Yields the changes behind the seq after, and waits for further ones. A lost stream is resumed. Store the seq of the
   * last change to continue there.
   */
  async function* follow({ after, signal, ...filters }: Following = {}): AsyncGenerator<Schemas["Change"]> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, String(value));
    for (;;) {
      const headers = new Headers({ Authorization: `Bearer ${key}`, Accept: "text/event-stream" });
      if (after !== undefined) headers.set("Last-Event-ID", String(after));
      const request = new Request(`${baseUrl.replace(/\/$/, "")}/v1/changes?${query}`, { headers, redirect: "manual", signal });
      const response = await repeat(request);
      if (!response.ok || !response.body) throw failure({ response, error: await response.json().catch(() => undefined) });
      const incoming = events(response.body);
      try {
        for (;;) {
          const next = await incoming.next().catch((e: unknown) => {
            if (signal?.aborted) throw e;
          });
          if (!next || next.done) break; // the connection is lost, or has ended
          const { event, data } = next.value;
          if (event === "error") throw failure({ response, error: JSON.parse(data) });
          if (event !== "change") continue;
          const change = JSON.parse(data) as Schemas["Change"];
          after = change.seq;
          yield change;
        }
      } finally {
        await incoming.return(undefined);
      }
      await wait(200 * (0.5 + Math.random()), request.signal);
    }
  }

  return { get, pages, manage, bulkResults, follow };
}

interface SentEvent { event: string; data: string }

/** How long a stream may be silent before it counts as lost, in milliseconds: the service sends a comment more often. */
const silence = 60_000;

/**
 * Reads the events of a stream.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<SentEvent> {
  const reader = body.getReader(), decoder = new TextDecoder();
  let text = "", event = "", data = "";
  try {
    for (;;) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error("the stream is silent")), silence);
      });
      const { done, value } = await Promise.race([reader.read(), late]).finally(() => clearTimeout(timer));
      if (done) return;
      const lines = (text + decoder.decode(value, { stream: true })).split("\n");
      text = lines.pop()!;
      for (const line of lines.map((l) => l.replace(/\r$/, ""))) {
        if (line === "") {
          if (data !== "") yield { event, data };
          event = data = "";
        }
        const [, name, given] = /^(event|data): ?(.*)$/.exec(line) ?? [];
        if (name === "event") event = given!;
        if (name === "data") data += (data && "\n") + given;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined); // it may have failed
  }
}

/** A delivery that is not from the service, or too old. */
export class WebhookError extends Error {
  override name = "WebhookError";
}

/**
 * Returns the change in a delivery, after its signature and time were checked. It throws a WebhookError for any other
 * request. body is that of the request as it was received; tolerance is the greatest age, and now the time, in seconds.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export async function verifyWebhook(
  secret: string, headers: Headers | Record<string, string | string[] | undefined>, body: string | Uint8Array<ArrayBuffer>,
  { tolerance = 300, now = Date.now() / 1000 }: { tolerance?: number; now?: number } = {},
): Promise<Record<string, unknown>> {
  const given = new Map([...(headers instanceof Headers ? headers : Object.entries(headers))]
    .map(([name, value]) => [name.toLowerCase(), String(value ?? "")]));
  const moment = given.get("webhook-timestamp") ?? "";
  if (!/^\d+$/.test(moment)) throw new WebhookError("the delivery has no time");
  if (Math.abs(now - Number(moment)) > tolerance) throw new WebhookError("the delivery is too old, or from the future");
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const raw = decoded(secret.replace(/^whsec_/, ""));
  if (!raw?.length) throw new WebhookError("the secret is not one");
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const signed = new TextEncoder().encode(`${given.get("webhook-id") ?? ""}.${moment}.${text}`);
  for (const signature of (given.get("webhook-signature") ?? "").split(" ")) {
    const [version, value = ""] = signature.split(",");
    const bytes = version === "v1" ? decoded(value) : undefined;
    if (bytes && await crypto.subtle.verify("HMAC", key, bytes, signed)) return JSON.parse(text) as Record<string, unknown>;
  }
  throw new WebhookError("the signature is not that of the delivery");
}

/** Returns the bytes that base64 stands for; undefined if it is not base64. */
function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}

interface Result { data?: unknown; error?: unknown; response: Response }

/** Returns what a call that failed throws. */
function failure({ error, response }: Result): Error {
  const problem = error as Partial<Schemas["Problem"]> | undefined;
  if (problem?.code && problem.detail !== undefined) return new Problem(problem as Schemas["Problem"]);
  return new Error(`the server answered ${response.status} without a problem document; check its address`);
}

export type Client = ReturnType<typeof socialdata>;

/** Returns the seconds after which a refused call may be sent again: 0 for a pause of the client's own, undefined for never. */
function pause(response: Response): number | undefined {
  if (![429, 502, 503, 504].includes(response.status)) return undefined;
  const field = response.headers.get("Retry-After");
  if (field !== null && response.status !== 504) {
    const seconds = /^\d+$/.test(field) ? Number(field) : (Date.parse(field) - Date.now()) / 1000;
    return Number.isNaN(seconds) ? 0 : Math.max(0, seconds);
  }
  return response.headers.get("Content-Type")?.startsWith("application/problem+json") ? undefined : 0;
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}
