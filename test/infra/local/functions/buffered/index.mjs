let active = 0;
let mostActive = 0;
const records = [];

const actions = {
  environment: () => process.env,
  pid: () => process.pid,
  nothing: () => undefined,
  too_long: () => 'x'.repeat(6_300_000),
  fail: () => {
    throw new RangeError('out of range');
  },
  count: () => mostActive,
  records: () => records,
  read: ({ Records }) => {
    if (Records.some(({ dynamodb }) => dynamodb.Keys.id.S === 'fail')) throw new Error('unreadable');
    records.push(...Records);
  },
  async overlap({ ms }) {
    active += 1;
    mostActive = Math.max(mostActive, active);
    await new Promise((resolve) => setTimeout(resolve, ms));
    active -= 1;
    return process.pid;
  },
  die: () => process.exit(1),
  reply: (event) => ({
    statusCode: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ event, pid: process.pid }),
  }),
  malformed: () => ({ status: 200 }),
};

export const handler = async (event, context) => {
  console.log('invoked', context.awsRequestId);
  return actions[event.action ?? event.queryStringParameters?.action ?? (event.Records ? 'read' : 'reply')](event);
};
