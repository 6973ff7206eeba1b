import { Chip } from '../../design/data/values.tsx';

interface OutcomeProps {
  outcome: string;
  status: number | null;
  errorCode?: string | null | undefined;
}

/** How a request ended: in words, with its status, and with the code of its error. */
export const Outcome = ({ outcome, status, errorCode }: OutcomeProps) => (
  <>
    <Chip state={outcome} /> {status} {errorCode && <code>{errorCode}</code>}
  </>
);
