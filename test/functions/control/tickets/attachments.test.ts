import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { BUCKET, type Form } from './ticket-bucket.ts';
import { type Reply, startTicketDesk, type TicketDesk } from './ticket-desk.ts';

const CONTENT = 'GET /v1/models 503\n';
const LOG = { name: 'client.log', content_type: 'text/plain', bytes: CONTENT.length };

let desk: TicketDesk;
let support: Actor;
let organization: string;
let owner: Actor;
let member: Actor;
let foreignOwner: Actor;

beforeAll(async () => {
  desk = await startTicketDesk();
  support = await desk.newUser('support', null);
});
afterAll(() => desk.close());
beforeEach(async () => {
  desk.bucket.setNow(undefined);
  organization = await desk.newOrganization();
  owner = await desk.newUser('owner', organization);
  member = await desk.newUser('member', organization);
  foreignOwner = await desk.newUser('owner', await desk.newOrganization('Other'));
});

const open = async (as: Actor = member): Promise<string> =>
  (await desk.send('createTicket', { as, body: { subject: 'Help', body: 'It fails.' } })).body.id;
const announce = (as: Actor, id: string, fields: object = {}, atMs?: number): Promise<Reply> =>
  desk.send('createTicketAttachment', { as, id, body: { ...LOG, ...fields }, ...(atMs && { atMs }) });
const write = (as: Actor, id: string, attachments: unknown[], fields: object = {}): Promise<Reply> =>
  desk.send('createTicketMessage', { as, id, body: { body: 'See the file.', attachments, ...fields } });
const retrieve = (as: Actor, id: string, attachment: string, atMs?: number): Promise<Reply> =>
  desk.send('retrieveTicketAttachment', { as, id, attachment, ...(atMs && { atMs }) });
const messagesOf = async (as: Actor, id: string) => (await desk.send('listTicketMessages', { as, id })).body.data;

const upload = async (as: Actor, id: string, content = CONTENT, fields: object = {}): Promise<Form & { id: string }> => {
  const { status, body } = await announce(as, id, { bytes: Buffer.byteLength(content), ...fields });
  expect(status).toBe(201);
  expect((await desk.bucket.submit(body, content)).status).toBe(204);
  return body;
};

const download = async (as: Actor, id: string, attachment: string): Promise<{ status: number; text: string; headers: Headers }> => {
  const response = await fetch((await retrieve(as, id, attachment)).body.url);
  return { status: response.status, text: await response.text(), headers: response.headers };
};

describe('a file that is announced, uploaded and named by a message', () => {
  test('shows in the message, and both sides download what was uploaded', async () => {
    const id = await open();
    const announced = await announce(member, id);
    expect(announced).toMatchObject({
      status: 201,
      body: {
        object: 'ticket.upload',
        id: expect.stringMatching(/^att_/),
        url: `${desk.bucket.url}/${BUCKET}/`,
        expires_at: Math.floor(member.origin.nowMs / 1_000) + 900,
      },
    });
    const { id: attachment } = announced.body;
    expect((await desk.bucket.submit(announced.body, CONTENT)).status).toBe(204);
    const written = await write(member, id, [attachment]);
    const files = [{ id: attachment, ...LOG }];
    expect(written).toMatchObject({ status: 201, body: { attachments: files } });
    expect((await messagesOf(owner, id)).map((message: { attachments: object[] }) => message.attachments)).toEqual([[], files]);
    for (const as of [member, owner, support, desk.admin]) {
      expect(await retrieve(as, id, attachment)).toMatchObject({
        status: 200,
        body: { object: 'ticket.attachment', ...files[0], expires_at: Math.floor(as.origin.nowMs / 1_000) + 300 },
      });
      expect(await download(as, id, attachment)).toMatchObject({ status: 200, text: CONTENT });
    }
  });

  test('is served as a download of bytes under its own name, whatever it contains', async () => {
    const id = await open();
    const html = '<script>alert(1)</script>';
    const { id: attachment } = await upload(member, id, html, { name: 'Größe (50%) 東京.txt' });
    await write(member, id, [attachment]);
    const { headers, text } = await download(support, id, attachment);
    expect(text).toBe(html);
    expect(headers.get('content-type')).toBe('application/octet-stream');
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="Gr__e (50_) __.txt"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%2850%25%29%20%E6%9D%B1%E4%BA%AC.txt`,
    );
    expect(await desk.bucket.objects.headersOf(BUCKET, `kept/${organization}/${id}/${attachment}`)).toEqual({
      'content-disposition': 'attachment',
    });
  });

  test('stays what it was, even if the form is sent again', async () => {
    const id = await open();
    const form = await upload(member, id);
    await write(member, id, [form.id]);
    expect((await desk.bucket.submit(form, CONTENT.toLowerCase())).status).toBe(204);
    expect((await download(support, id, form.id)).text).toBe(CONTENT);
    expect(await write(member, id, [form.id])).toMatchObject({ status: 409, code: 'attachment_used', param: 'attachments' });
    expect((await download(support, id, form.id)).text).toBe(CONTENT);
  });

  test('belongs to one message, also if several are sent at once', async () => {
    const id = await open();
    const { id: attachment } = await upload(member, id);
    const replies = await Promise.all([1, 2, 3].map(() => write(member, id, [attachment])));
    expect(replies.map(({ status, code }) => code ?? status).sort()).toEqual([201, 'attachment_used', 'attachment_used']);
    const messages = await messagesOf(member, id);
    expect(messages.filter(({ attachments }: { attachments: object[] }) => attachments.length > 0)).toHaveLength(1);
  });

  test('can be named again if its first message could not be written', async () => {
    const id = await open();
    const { id: attachment } = await upload(member, id);
    const place = { organization, ticket: id, attachment };
    const file = { contentType: 'text/plain', bytes: CONTENT.length };
    const [from, to] = ['pending', 'kept'].map((prefix) => `${prefix}/${place.organization}/${id}/${attachment}`) as [string, string];
    // The copy is the last thing before the message.
    expect(await desk.bucket.files.keep(from, to, file)).toBe(true);
    await desk.bucket.objects.delete(BUCKET, from);
    expect(await write(member, id, [attachment])).toMatchObject({ status: 201 });
    expect((await download(member, id, attachment)).text).toBe(CONTENT);
  });
});

describe('a file', () => {
  test('is rejected with its message until it is uploaded', async () => {
    const id = await open();
    const { body } = await announce(member, id);
    const refused = await write(member, id, [body.id]);
    expect(refused).toMatchObject({ status: 409, code: 'attachment_not_uploaded', param: 'attachments' });
    expect(refused.body.message).toMatch(/Upload it with the form/);
    expect(await messagesOf(member, id)).toHaveLength(1);
    await desk.bucket.submit(body, CONTENT);
    expect(await write(member, id, [body.id])).toMatchObject({ status: 201 });
  });

  test('is shown only once a message names it', async () => {
    const id = await open();
    const { id: attachment } = await upload(member, id);
    for (const as of [member, owner, support])
      expect(await retrieve(as, id, attachment)).toMatchObject({ status: 404, code: 'attachment_not_found' });
  });

  test('is rejected if the bucket has another file than was announced', async () => {
    const id = await open();
    const { body } = await announce(member, id);
    const key = `pending/${organization}/${id}/${body.id}`;
    for (const [content, type] of [
      [CONTENT, 'text/html'],
      [`${CONTENT}more`, 'text/plain'],
    ] as const) {
      await desk.bucket.objects.put(BUCKET, key, Buffer.from(content), { 'content-type': type });
      expect(await write(member, id, [body.id])).toMatchObject({ status: 409, code: 'attachment_not_uploaded' });
    }
    expect(await desk.bucket.keys()).not.toContain(`kept/${organization}/${id}/${body.id}`);
  });

  test('is not shown to customers if it belongs to a note', async () => {
    const id = await open();
    const { id: attachment } = await upload(support, id);
    expect(await write(support, id, [attachment], { visibility: 'internal' })).toMatchObject({ status: 201 });
    expect(await download(support, id, attachment)).toMatchObject({ status: 200, text: CONTENT });
    for (const as of [member, owner]) {
      expect(await retrieve(as, id, attachment)).toMatchObject({ status: 404 });
      expect(await write(as, id, [attachment])).toMatchObject({ status: 404, code: 'attachment_not_found' });
      expect(JSON.stringify(await messagesOf(as, id))).not.toContain(attachment);
    }
  });
});

describe('files of others', () => {
  test('can’t be named by a message: it names only files that its author announced for this ticket', async () => {
    const id = await open();
    const own = await open();
    const foreign = await open(foreignOwner);
    const { id: ofMember } = await upload(member, id);
    for (const [as, ticket] of [
      [owner, id],
      [support, id],
      [member, own],
      [foreignOwner, foreign],
    ] as const)
      expect(await write(as, ticket, [ofMember])).toMatchObject({ status: 404, code: 'attachment_not_found', param: 'attachments' });
    expect(await write(member, id, [ofMember])).toMatchObject({ status: 201 });
    expect(await write(foreignOwner, foreign, [ofMember])).toMatchObject({ status: 404 });
  });

  test('are found only with their own ticket, by those who can see it', async () => {
    const id = await open();
    const foreign = await open(foreignOwner);
    const { id: attachment } = await upload(member, id);
    await write(member, id, [attachment]);
    for (const [as, ticket] of [
      [foreignOwner, id],
      [foreignOwner, foreign],
      [await desk.newUser('member', organization), id],
      [member, await open()],
      [support, foreign],
    ] as const)
      expect(await retrieve(as, ticket, attachment)).toMatchObject({ status: 404 });
    expect(await announce(foreignOwner, id)).toMatchObject({ status: 404, code: 'ticket_not_found' });
  });

  test('can’t be reached by ids that are paths, or no ids', async () => {
    const id = await open();
    const { id: attachment } = await upload(member, id);
    for (const tricky of [`../${id}/${attachment}`, `${attachment}/..`, `${attachment}?versionId=1`])
      expect(await write(member, id, [tricky])).toMatchObject({ status: 404, code: 'attachment_not_found' });
    for (const invalid of ['', 'a b', '\u202eatt_1', 'x'.repeat(65), 7])
      expect(await write(member, id, [invalid])).toMatchObject({ status: 400 });
    expect(await retrieve(member, id, `${attachment}/../x`)).toMatchObject({ status: 404 });
  });
});

describe('a form', () => {
  test.each([
    ['more bytes', `${CONTENT}!`, {}, 'EntityTooLarge'],
    ['fewer bytes', CONTENT.slice(1), {}, 'EntityTooSmall'],
    ['another type', CONTENT, { 'Content-Type': 'text/html' }, 'AccessDenied'],
    ['no type', CONTENT, { 'Content-Type': undefined }, 'AccessDenied'],
    ['another key', CONTENT, { key: 'kept/org_other/tkt_other/att_other' }, 'AccessDenied'],
    ['another field', CONTENT, { success_action_redirect: 'https://example.com/' }, 'AccessDenied'],
    ['tags', CONTENT, { tagging: '<Tagging/>' }, 'AccessDenied'],
    ['another signature', CONTENT, { 'x-amz-signature': '0'.repeat(64) }, 'SignatureDoesNotMatch'],
    ['no signature', CONTENT, { 'x-amz-signature': undefined }, 'SignatureDoesNotMatch'],
    ['another policy', CONTENT, { policy: Buffer.from('{}').toString('base64') }, 'SignatureDoesNotMatch'],
  ])('rejects %s', async (_what, content, changes, code) => {
    const id = await open();
    const { body } = await announce(member, id);
    const { status, text } = await desk.bucket.submit(body, content, changes);
    expect([status >= 400, /<Code>(\w+)<\/Code>/.exec(text)?.[1]]).toEqual([true, code]);
    expect((await desk.bucket.keys()).filter((key) => key.includes(id) || key.includes('org_other'))).toEqual([]);
  });

  test('uploads until it expires', async () => {
    const id = await open();
    const { nowMs } = member.origin;
    const { body } = await announce(member, id, {}, nowMs);
    desk.bucket.setNow(nowMs + 15 * MINUTE_MS);
    expect(await desk.bucket.submit(body, CONTENT)).toMatchObject({ status: 403, text: expect.stringContaining('Policy expired') });
    desk.bucket.setNow(nowMs + 15 * MINUTE_MS - 1);
    expect((await desk.bucket.submit(body, CONTENT)).status).toBe(204);
  });

  test('has a download whose URL expires too, and returns nothing but this file', async () => {
    const id = await open();
    const { id: attachment } = await upload(member, id);
    await write(member, id, [attachment]);
    const { nowMs } = member.origin;
    const { body } = await retrieve(member, id, attachment, nowMs);
    desk.bucket.setNow(nowMs + 5 * MINUTE_MS);
    expect((await fetch(body.url)).status).toBe(403);
    const { pathname } = new URL(body.url);
    expect(pathname).toBe(`/${BUCKET}/kept/${organization}/${id}/${attachment}`);
    expect((await fetch(body.url.split('?')[0])).status).toBe(403);
  });
});

describe('announceAttachment', () => {
  test.each([
    ['with a path', '../client.log'],
    ['with a path of Windows', '..\\client.log'],
    ['that begins with a dot', '.log'],
    ['that begins with a space', ' client.log'],
    ['with a null character', 'client.html\u0000.log'],
    ['with a line feed, which would end a header', 'client\r\nX-Header: 1.log'],
    ['that is shown in another order than it is', 'client\u202egol.exe.log'],
    ['with a mark of direction', 'client\u200f.log'],
    ['with an invisible space', 'client\u200b.log'],
    ['with a quote', 'client".log'],
    ['with a stream of NTFS', 'client.exe:1.log'],
    ['without an extension', 'log'],
    ['with the extension of another type', 'client.html'],
    ['with the extension before the last', 'client.log.exe'],
    ['that ends with a dot', 'client.log.'],
    ['that is too long', `${'ä'.repeat(99)}.log`],
    ['that is empty', ''],
  ])('rejects a name %s', async (_why, name) => {
    expect(await announce(member, await open(), { name })).toMatchObject({ status: 400, param: 'name' });
  });

  test.each([
    ['a type that is not allowed', { content_type: 'text/html', name: 'a.html' }, 'content_type'],
    ['an image that can have scripts', { content_type: 'image/svg+xml', name: 'a.svg' }, 'content_type'],
    ['a type with parameters', { content_type: 'text/plain; charset=utf-8' }, 'content_type'],
    ['a file without content', { bytes: 0 }, 'bytes'],
    ['a file of more than 10 MB', { bytes: 10_000_001 }, 'bytes'],
    ['half a byte', { bytes: 1.5 }, 'bytes'],
    ['no size', { bytes: undefined }, 'bytes'],
  ])('rejects %s', async (_why, fields, param) => {
    expect(await announce(member, await open(), fields)).toMatchObject({ status: 400, param });
  });

  test('rejects a closed ticket', async () => {
    const id = await open();
    await desk.send('updateTicket', { as: member, id, body: { status: 'resolved' } });
    const closed = { status: 409, code: 'ticket_closed' };
    expect(await announce(member, id, {}, member.origin.nowMs + 7 * 24 * 60 * MINUTE_MS)).toMatchObject(closed);
  });

  test('accepts 60 in an hour from all users of an organization', async () => {
    const [first, second] = [await open(member), await open(owner)];
    const atMs = Math.floor(member.origin.nowMs / (60 * MINUTE_MS)) * 60 * MINUTE_MS;
    for (let i = 0; i < 60; i++) expect((await announce(i % 2 ? member : owner, i % 2 ? first : second, {}, atMs)).status).toBe(201);
    expect(await announce(member, first, {}, atMs)).toMatchObject({ status: 429, code: 'too_many_attachments' });
    expect((await announce(member, first, {}, atMs + 60 * MINUTE_MS)).status).toBe(201);
    expect((await announce(support, first, {}, atMs)).status).toBe(201);
  });

  test('accepts 200 from each side of a ticket', async () => {
    const id = await open();
    for (let i = 0; i < 200; i++)
      expect((await announce(member, id, {}, member.origin.nowMs + Math.floor(i / 60) * 60 * MINUTE_MS)).status).toBe(201);
    expect(await announce(owner, id, {}, owner.origin.nowMs + 4 * 60 * MINUTE_MS)).toMatchObject({
      status: 409,
      code: 'too_many_attachments',
    });
    expect((await announce(support, id)).status).toBe(201);
  });
});

test.each([
  ['client.log', 'text/plain'],
  ['client.TXT', 'text/plain'],
  ['requests.har', 'application/json'],
  ['events.jsonl', 'application/x-ndjson'],
  ['logs.tar.gz', 'application/gzip'],
  ['Bildschirmfoto – Größe.PNG', 'image/png'],
  [`${'a'.repeat(196)}.pdf`, 'application/pdf'],
])('%s can be attached as %s', async (name, content_type) => {
  const id = await open();
  const { id: attachment } = await upload(member, id, CONTENT, { name, content_type });
  expect(await write(member, id, [attachment])).toMatchObject({ status: 201, body: { attachments: [{ name, content_type }] } });
});

test('a message has at most five files, each once', async () => {
  const id = await open();
  const ids = [];
  for (let i = 0; i < 6; i++) ids.push((await upload(member, id)).id);
  expect(await write(member, id, ids)).toMatchObject({ status: 400, param: 'attachments' });
  expect(await write(member, id, [ids[0], ids[0]])).toMatchObject({ status: 400, param: 'attachments' });
  expect((await write(member, id, ids.slice(1))).body.attachments).toHaveLength(5);
});
