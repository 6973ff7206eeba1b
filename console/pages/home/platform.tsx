import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import { Row } from '../../design/layout/layout.tsx';
import { GpuNow } from './gpu-now.tsx';
import { HealthNow } from './health-now.tsx';

/** The tasks for which the platform's users come most often. Each role sees its own. */
export const PlatformLinks = () => {
  const me = useSignedIn();
  return (
    <Row>
      {can(me, 'organizations:manage') && <ButtonLink to="/organizations?dialog=onboard">Onboard organization</ButtonLink>}
      {can(me, 'tickets:answer') && <ButtonLink to="/tickets">Answer tickets</ButtonLink>}
      {can(me, 'billing:issue') && <ButtonLink to="/invoices?state=draft">Issue invoices</ButtonLink>}
      {can(me, 'prices:write') && <ButtonLink to="/prices">Change prices</ButtonLink>}
    </Row>
  );
};

/** The health and the running costs of the whole platform, for those who can see them. */
export const PlatformNow = () => {
  const me = useSignedIn();
  if (!isOfPlatform(me)) return null;
  return (
    <>
      {can(me, 'requests:read') && <HealthNow />}
      {can(me, 'deployments:read') && <GpuNow />}
    </>
  );
};
