import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let control: Control;
let owner: SignedIn;
let admin: SignedIn;
beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  admin = await control.asAdmin();
  const { id: organization } = await control.createOrganization();
  owner = await control.createUser({ role: 'owner', organization });
});
afterAll(() => run.close());

test('a file goes through the bucket of the local run, from a form to a download', async () => {
  const { token } = owner;
  const { id } = await control.done('POST', '/v1/tickets', { token, body: { subject: 'Help', body: 'It fails.' } });
  const content = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const upload = await control.done('POST', `/v1/tickets/${id}/attachments`, {
    token,
    body: { name: 'screen shot.png', content_type: 'image/png', bytes: content.length },
  });
  const message = { token, body: { body: 'It looks like this.', attachments: [upload.id] } };
  expect(await control.call('POST', `/v1/tickets/${id}/messages`, message)).toMatchObject({
    status: 409,
    body: { error: { code: 'attachment_not_uploaded', param: 'attachments' } },
  });

  const form = new FormData();
  for (const [name, value] of Object.entries<string>(upload.fields)) form.append(name, value);
  form.append('file', new Blob([content], { type: 'image/png' }), 'screen shot.png');
  expect((await fetch(upload.url, { method: 'POST', body: form })).status).toBe(204);
  await control.done('POST', `/v1/tickets/${id}/messages`, message);

  const { url, ...file } = await control.done('GET', `/v1/tickets/${id}/attachments/${upload.id}`, { token: admin.token });
  expect(file).toMatchObject({ name: 'screen shot.png', content_type: 'image/png', bytes: content.length });
  const response = await fetch(url);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(content);
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="screen shot.png"/);
  expect(response.headers.get('content-type')).toBe('application/octet-stream');
});
