import type { Page } from 'playwright-core';

/** A request of a screen to the API. */
export interface ScreenCall {
  method: string;
  /** With the query, from `/v1` on. */
  path: string;
  status: number;
}

/** A screen when nothing is loading any more. */
export interface SeenScreen {
  calls: ScreenCall[];
  /** True: the console says that the user's role can't see it. */
  isForbidden: boolean;
  /** True: a fault of its code ended it. */
  hasCrashed: boolean;
  /** The texts of its alerts. */
  alerts: string[];
  /** The headings below its title, which are also those of empty lists. */
  headings: string[];
  /** The paths of other screens that it links to, below the console's path. */
  links: string[];
}

const BASE = '/console';
const LIMIT_MS = 120_000;
const HIDDEN_MS = 61_000;

// A text, because it runs in the browser. A screen is whole when its code and replies have come and are rendered.
const WATCH = `(() => {
  if (window.walk) return;
  const walk = { calls: [], open: 0 };
  const send = window.fetch;
  window.fetch = async (input, init = {}) => {
    const url = new URL(input.url ?? input, location.href);
    const place = url.pathname.indexOf('/v1/');
    const call = { method: init.method ?? 'GET', path: url.pathname.slice(place) + url.search, status: 0 };
    if (place >= 0) walk.calls.push(call);
    const canChange = place >= 0 && call.method === 'GET' && !url.pathname.endsWith('/v1/me');
    if (walk.answer && canChange) return Response.json(walk.answer.json, { status: (call.status = walk.answer.status) });
    walk.open++;
    try {
      const reply = await send(input, init);
      call.status = reply.status;
      if (!walk.change || !canChange) return reply;
      const { status, json } = walk.change({ status: reply.status, json: await reply.json().catch(() => null) });
      return new Response(JSON.stringify(json), { status, headers: reply.headers });
    } finally {
      walk.open--;
    }
  };
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const texts = (selector) => [...document.querySelectorAll('main ' + selector)].map(({ textContent }) => textContent);
  const hasCrashed = () => texts('button').includes('Reload page');
  const isLoading = () => walk.open > 0 || texts('[role=status][aria-label=Loading]').length > 0 || (texts('h1').length === 0 && !hasCrashed());
  walk.untilWhole = async () => {
    const end = performance.now() + ${LIMIT_MS};
    for (let quiet = 0; quiet < 3; quiet = isLoading() ? 0 : quiet + 1) {
      if (performance.now() > end) throw new Error(location.pathname + ' was still loading: ' + JSON.stringify(walk.calls));
      await frame();
    }
    return {
      calls: walk.calls.splice(0),
      headings: texts('h2'),
      isForbidden: texts('h2').includes("Your role doesn't have access to this page"),
      hasCrashed: hasCrashed(),
      alerts: texts('[role=alert]'),
      links: [...document.querySelectorAll('main a[href^="${BASE}/"]')].map((link) => link.getAttribute('href').slice(${BASE.length})),
    };
  };
  walk.show = (state) => {
    for (const [name, get] of [['visibilityState', () => state], ['hidden', () => state === 'hidden']])
      Object.defineProperty(document, name, { configurable: true, get });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  };
  walk.end = () => {
    window.fetch = send;
    delete window.walk;
    for (const name of ['visibilityState', 'hidden']) delete document[name];
  };
  window.walk = walk;
})()`;

/**
 * Goes from screen to screen inside an open page, as its links do.
 * @returns `firstMs`, from the beginning of the navigation until the page's first screen was whole; `go`, which waits
 *   until a screen is whole; `hide`, which returns the calls of a minute in which the page is hidden, and needs the
 *   clock of the page, so that what is read then is old; `change`, which takes the text of a function that gets the
 *   status and JSON of each reply and returns others; `answer`, which gives the reply to all further reads;
 *   `end`, after which the page is as before
 */
export const walkScreens = async (page: Page) => {
  await page.evaluate(WATCH);
  const firstMs = await page.evaluate<number>('walk.untilWhole().then(() => Math.round(performance.now()))');
  const untilWhole = (): Promise<SeenScreen> => page.evaluate<SeenScreen>('walk.untilWhole()');
  return {
    firstMs,
    go: (path: string): Promise<SeenScreen> =>
      page.evaluate<SeenScreen>(`history.pushState(null, '', ${JSON.stringify(BASE + path)}), walk.untilWhole()`),
    change: (script: string): Promise<void> => page.evaluate<void>(`void (walk.change = ${script})`),
    answer: (reply: { status: number; json: object }): Promise<void> =>
      page.evaluate<void>(`void (walk.answer = ${JSON.stringify(reply)})`),
    end: (): Promise<void> => page.evaluate<void>('walk.end()'),
    hide: async (): Promise<ScreenCall[]> => {
      // Without what was still sent while it was seen.
      await page.evaluate("walk.show('hidden'), void walk.calls.splice(0)");
      await page.clock.fastForward(HIDDEN_MS);
      const { calls } = await untilWhole();
      await page.evaluate("walk.show('visible')");
      await untilWhole();
      return calls;
    },
  };
};
