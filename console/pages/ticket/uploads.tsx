import { Button } from '../../design/controls/button.tsx';
import classes from '../../design/controls/controls.module.css';
import { FileButton } from '../../design/controls/file-button.tsx';
import { Failure } from '../../design/feedback/failure.tsx';
import { Items, Row, Stack } from '../../design/layout/layout.tsx';
import { FILE_TYPES, formatBytes, MAX_FILES } from './file-types.ts';
import type { Upload, useUploads } from './use-uploads.ts';

const ENDINGS = Object.values(FILE_TYPES)
  .flat()
  .map((ending) => `.${ending}`);

const UploadEntry = ({ upload, onRemove }: { upload: Upload; onRemove: () => void }) => {
  const { name, bytes, share, id, failure } = upload;
  return (
    <li>
      <Stack>
        <Row>
          <span>
            {name} ({formatBytes(bytes)})
          </span>
          {!failure && id === undefined && <progress className={classes.progress} aria-label={`Upload of ${name}`} value={share} />}
          {id !== undefined && <span>uploaded</span>}
          <Button look="plain" onClick={onRemove} aria-label={`Remove ${name}`}>
            Remove
          </Button>
        </Row>
        {failure && <Failure failure={failure} />}
      </Stack>
    </li>
  );
};

/** The files of a message that is being written. */
export const Uploads = ({ uploads, add, remove }: Pick<ReturnType<typeof useUploads>, 'uploads' | 'add' | 'remove'>) => (
  <Stack>
    {uploads.length > 0 && (
      <Items>
        {uploads.map((upload) => (
          <UploadEntry key={upload.key} upload={upload} onRemove={() => remove(upload.key)} />
        ))}
      </Items>
    )}
    {uploads.length < MAX_FILES && (
      <Row>
        <FileButton label="Attach files" accept={ENDINGS} onChoose={add} />
        <span>Up to {MAX_FILES} files: text, CSV, JSON, PDF, PNG, JPEG, archives</span>
      </Row>
    )}
  </Stack>
);
