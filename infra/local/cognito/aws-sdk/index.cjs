const noTriggers = () => {
  throw new Error('The local run has no triggers of Cognito.');
};

/** The client of the functions that triggers call. */
class Lambda {
  invoke = noTriggers;
}

/** The client that encrypts codes for senders of messages, which are triggers too. */
class KMS {
  constructor() {
    noTriggers();
  }
}

module.exports = { Lambda, KMS };
