import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import * as z from 'zod';
import { CONSOLE_PATHS } from '../../../shared/hosts/console-paths.ts';
import { servicePaths } from '../../../shared/hosts/service-routes.ts';
import type { LocalClock } from '../clock/local-clock.ts';
import type { Schedules } from '../clock/schedules.ts';
import { closeServer, listen } from '../http/listen.ts';
import { readBody } from '../http/read-body.ts';
import { readMails } from './mails.ts';
import { MOVES, offsetAfter } from './moves.ts';

const MAX_BODY_BYTES = 1_024;
// A page of another origin can send it only if we allow it, and we don't.
const OWN_HEADER = 'x-sluice-panel';

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const read = (...file: string[]): Buffer => readFileSync(path.join(import.meta.dirname, ...file));

const FILES: ReadonlyMap<string, readonly [type: string, content: Buffer]> = new Map([
  ['/', ['text/html; charset=utf-8', read('page.html')]],
  ['/page.js', ['text/javascript; charset=utf-8', read('page.js')]],
  ['/page.css', ['text/css; charset=utf-8', read('page.css')]],
  ['/tokens.css', ['text/css; charset=utf-8', read('../../../console/design/tokens.css')]],
]);

const MoveRequest = z.strictObject({ move: z.enum(MOVES) });

interface PanelOptions {
  clock: LocalClock;
  schedules: Pick<Schedules, 'jobs' | 'catchUp'>;
  /** Folder of `mail.log`. */
  logFolder: string;
  /** null: the app has no control plane. */
  controlUrl: string | null;
  /** 0 picks a free port. */
  port: number;
}

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { ...HEADERS, 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

// Other pages of the browser must neither read the emails nor move the clock, also by a name that leads here.
const isOwn = ({ method, headers }: IncomingMessage, url: string): boolean => {
  const { port } = new URL(url);
  const host = [`127.0.0.1:${port}`, `localhost:${port}`].find((own) => own === headers.host);
  if (host === undefined || (headers.origin !== undefined && headers.origin !== `http://${host}`)) return false;
  return method === 'GET' || (headers[OWN_HEADER] === '1' && headers['content-type'] === 'application/json');
};

/**
 * Serves the developer panel: a page that shows the run's time, jobs and emails, and moves its clock. After a move,
 * the jobs that were due in between run.
 * @throws Error with code EADDRINUSE if the port is in use
 */
export const startPanel = async ({ clock, schedules, logFolder, controlUrl, port }: PanelOptions) => {
  let isMoving = false;
  const links = controlUrl && { console: `${controlUrl}${CONSOLE_PATHS.page}/`, reference: controlUrl + servicePaths.reference };
  const state = async () => ({
    now_ms: clock.now(),
    offset_ms: clock.offsetMs(),
    is_moving: isMoving,
    jobs: schedules.jobs(),
    mails: await readMails(logFolder),
    links,
  });

  const move = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request, MAX_BODY_BYTES);
    const { data } = MoveRequest.safeParse(parseJson(body));
    if (!data) return send(response, 400, { message: `Send {"move": …} with one of: ${MOVES.join(', ')}.` });
    if (isMoving) return send(response, 409, { message: 'The clock is being moved. Wait until the jobs have run.' });
    const before = clock.offsetMs();
    try {
      clock.moveTo(offsetAfter(data.move, clock));
    } catch (error) {
      return send(response, 409, { message: (error as RangeError).message });
    }
    isMoving = true;
    await schedules.catchUp(clock.offsetMs() - before).finally(() => {
      isMoving = false;
    });
    send(response, 200, await state());
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url: address = '' } = request;
    if (!isOwn(request, url)) return send(response, 403, { message: 'Only the page of the developer panel can use this.' });
    if (method === 'POST' && address === '/clock') return move(request, response);
    if (method !== 'GET') return send(response, 405, { message: 'Use GET, or POST /clock.' });
    if (address === '/state') return send(response, 200, await state());
    const [type, content] = FILES.get(address) ?? [];
    if (type === undefined) return send(response, 404, { message: 'Not found.' });
    response.writeHead(200, { ...HEADERS, 'content-type': type }).end(content);
  };

  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  const url = await listen(server, port);
  return { url, close: () => closeServer(server) };
};

const parseJson = (body: Buffer | undefined): unknown => {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
};
