let active = 0;
let mostActive = 0;
const records = [];
const events = [];
const tries = new Map();

// Like code that keeps the function when it is loaded.
const { now } = Date;

const actions = {
  clock: () => ({ now: now(), date: new Date().toISOString(), text: new Date(0).toISOString(), isDate: new Date() instanceof Date }),
  environment: () => process.env,
  pid: () => process.pid,
  modules: () => process.moduleLoadList,
  nothing: () => undefined,
  too_long: () => 'x'.repeat(6_300_000),
  fail: () => {
    throw new RangeError('out of range');
  },
  tries: ({ id }) => tries.get(id) ?? 0,
  try: ({ id, fails }) => {
    tries.set(id, (tries.get(id) ?? 0) + 1);
    if (tries.get(id) <= fails) throw new Error('not yet');
  },
  events: () => events,
  note: (event) => void events.push(event),
  count: () => mostActive,
  records: () => records,
  read: ({ Records }) => {
    if (Records.some(({ dynamodb }) => dynamodb?.Keys.id.S === 'fail')) throw new Error('unreadable');
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
  remaining: (_, context) => context.getRemainingTimeInMillis(),
};

export const handler = async (event, context) => {
  console.log('invoked', context.awsRequestId);
  return actions[event.action ?? event.queryStringParameters?.action ?? (event.Records ? 'read' : event.source ? 'note' : 'reply')](
    event,
    context,
  );
};
