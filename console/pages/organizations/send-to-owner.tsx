import { Link } from 'wouter';
import { consolePath } from '../../client/address.ts';
import { useRead } from '../../client/queries.ts';
import { Button } from '../../design/controls/button.tsx';
import { Code } from '../../design/controls/copy.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { useStay } from '../../design/feedback/stay.ts';
import { Row } from '../../design/layout/layout.tsx';
import type { Onboarded } from './onboarding.ts';
import { welcomeOf } from './welcome.ts';

interface SendToOwnerProps {
  made: Onboarded;
  isPasswordMailed: boolean;
  onClose: () => void;
}

/** The end of onboarding: the message for the owner, and the secret of the first key, which is shown only once. */
export const SendToOwner = ({ made: { organization, owner, api_key }, isPasswordMailed, onClose }: SendToOwnerProps) => {
  const configuration = useRead('GET /v1/console/configuration', {});
  const name = organization?.name ?? '';
  useStay(api_key !== undefined);
  return (
    // The secret would be lost by a press of Escape.
    <Dialog title={`${name} is ready`} {...(!api_key && { onClose })}>
      <p>Send this to the owner:</p>
      <Loaded query={configuration}>
        {({ base_url }) => (
          <Code
            label="Message to the owner"
            variants={[
              [
                'Message',
                welcomeOf({
                  organization: name,
                  email: owner?.email ?? '',
                  consoleUrl: `${window.location.origin}${consolePath}/`,
                  baseUrl: base_url,
                  isPasswordMailed,
                  hasKey: api_key !== undefined,
                }),
              ],
            ]}
          />
        )}
      </Loaded>
      {api_key && (
        <>
          <Notice tone="warn">
            Copy the secret of the API key {api_key.name} now, and send it separately from the message. It's shown only once.
          </Notice>
          <Code label="Secret" variants={[['Secret', api_key.secret]]} />
        </>
      )}
      <Row>
        <Button look="primary" onClick={onClose}>
          {api_key ? 'I have saved the secret' : 'Close'}
        </Button>
        <Link to={`/organizations/${organization?.id}`}>Open {name}</Link>
      </Row>
    </Dialog>
  );
};
