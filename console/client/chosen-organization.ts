import { isOfPlatform, useSignedIn } from './me.ts';
import { useUrlState } from './url-state.ts';

/**
 * The organization whose things a screen shows, from its address. Those who work for the platform must choose one;
 * for others it is undefined, which means their own.
 */
export const useChosenOrganization = () => {
  const isPlatform = isOfPlatform(useSignedIn());
  const [chosen, setChosen] = useUrlState<string>('organization', '');
  return { chosen, setChosen, organization: chosen || undefined, needsChoice: isPlatform && chosen === '' };
};
