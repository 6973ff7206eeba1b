import { TextField } from '../../design/controls/fields.tsx';

interface ProofFieldsProps {
  password: string;
  onPassword: (password: string) => void;
  code: string;
  onCode: (code: string) => void;
  /** True: the user has a second factor, so a code is needed, too. */
  needsCode: boolean;
}

/** The password and, with a second factor, a code of it. */
export const ProofFields = ({ password, onPassword, code, onCode, needsCode }: ProofFieldsProps) => (
  <>
    <TextField label="Password" type="password" value={password} onChange={onPassword} autoComplete="current-password" autoFocus />
    {needsCode && (
      <TextField
        label="Code from your authenticator app"
        value={code}
        onChange={onCode}
        inputMode="numeric"
        autoComplete="one-time-code"
        isCode
      />
    )}
  </>
);

/** The body of a request that proves who the user is. */
export const proofOf = (password: string, code: string) => ({
  current_password: password,
  ...(code !== '' && { code: code.replaceAll(' ', '') }),
});
