import { ApiFailure } from './api-failure.ts';

type Ask = () => Promise<boolean>;

let ask: Ask | undefined;
let asking: Promise<boolean> | undefined;

/** Sets the dialog that asks for a proof. It resolves to false if the user closes it. */
export const askForProofWith = (dialog: Ask | undefined): void => {
  ask = dialog;
};

/** Asks the user to prove who they are, once for all calls that wait for it. @throws ApiFailure if they don't */
export const proveIdentity = async (): Promise<void> => {
  asking ??= ask?.().finally(() => {
    asking = undefined;
  });
  if (await asking) return;
  throw new ApiFailure({
    status: 403,
    code: 'fresh_login_required',
    message: "Nothing was changed because you didn't confirm your identity. Try again, then confirm it.",
  });
};
