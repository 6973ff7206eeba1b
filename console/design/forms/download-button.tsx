import { useState } from 'react';
import { saveFile } from '../../client/save-file.ts';
import { untilMade } from '../../client/until-made.ts';
import { Button, type Look } from '../controls/button.tsx';
import { Failure } from '../feedback/failure.tsx';
import { Stack } from '../layout/layout.tsx';

interface DownloadButtonProps {
  label: string;
  /** Names the file for screen readers, where the label alone is not clear. */
  name?: string;
  look?: Look;
  /** Reads the URL of the file, which works for a few minutes only. */
  read: () => Promise<{ url: string | null }>;
}

/** Saves a file of the API, and waits a little for one that is still being made. */
export const DownloadButton = ({ label, name, look, read }: DownloadButtonProps) => {
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<Error>();
  const download = async () => {
    setPending(true);
    setFailure(undefined);
    try {
      const { url } = await untilMade(read);
      if (url !== null) saveFile(url);
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setPending(false);
    }
  };
  return (
    <Stack>
      <div>
        <Button {...(look && { look })} aria-label={name} isBusy={isPending} onClick={() => void download()}>
          {isPending ? 'Please wait…' : label}
        </Button>
      </div>
      {failure && <Failure failure={failure} />}
    </Stack>
  );
};
