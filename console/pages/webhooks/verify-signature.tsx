import { Code } from '../../design/controls/copy.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import { VERIFY_SNIPPETS } from './verify-snippets.ts';

/** Says how a receiver checks that an event is from here. */
export const VerifySignature = () => (
  <Stack>
    <p>Anyone can send requests to your URL. Verify the signature over the raw body, and respond with a 2xx status within 10 seconds.</p>
    <Code label="Verify the signature" variants={VERIFY_SNIPPETS} />
  </Stack>
);
