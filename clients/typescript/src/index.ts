// A client of the socialdata API. The types are generated from its descriptions; written by hand are pages, problems and
// retries.
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
    const result = await change(method, path as string, init[0]);
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

  return { get, pages, manage };
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
