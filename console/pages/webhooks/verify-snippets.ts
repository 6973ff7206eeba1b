const NODE = `import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_S = 300;

// body: the bytes as they arrived, before JSON.parse. headers: with lower-case names.
export const isGenuine = (secret, headers, body, nowS = Date.now() / 1000) => {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(nowS - Number(time)) <= TOLERANCE_S)) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(\`\${id}.\${time}.\`).update(body).digest();
  return signatures.split(' ').some((one) => {
    const [version, text = ''] = one.split(',');
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
};`;

const LIBRARY = `import express from 'express';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_…

express()
  .post('/webhooks', express.raw({ type: '*/*' }), (request, response) => {
    let event;
    try {
      event = webhook.verify(request.body, request.headers);
    } catch {
      return response.sendStatus(400);
    }
    console.log(event.id, event.type); // handle each id once
    response.sendStatus(204);
  })
  .listen(8080);`;

const PYTHON = `import os
from flask import Flask, request
from standardwebhooks import Webhook

app = Flask(__name__)
webhook = Webhook(os.environ["WEBHOOK_SECRET"])  # whsec_...

@app.post("/webhooks")
def receive():
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))
    except Exception:
        return "", 400
    print(event["id"], event["type"])  # handle each id once
    return "", 204`;

/** Receivers that verify signatures, as Standard Webhooks makes them, in several languages. */
export const VERIFY_SNIPPETS = [
  ['Express', LIBRARY],
  ['Python', PYTHON],
  ['Node.js without a library', NODE],
] as const;
