import { useEffect } from 'react';

const stay = (event: Event): void => event.preventDefault();

/**
 * Keeps the page as it is while something is shown that is nowhere else: the browser asks before it leaves the page,
 * and ignores its back button once.
 */
export const useStay = (isOn = true): void => {
  useEffect(() => {
    if (!isOn) return;
    // Older browsers have no such event.
    const { navigation } = window as Partial<Window>;
    const stayHere = (event: NavigateEvent): void => {
      if (event.navigationType === 'traverse') stay(event);
    };
    window.addEventListener('beforeunload', stay);
    navigation?.addEventListener('navigate', stayHere);
    return () => {
      window.removeEventListener('beforeunload', stay);
      navigation?.removeEventListener('navigate', stayHere);
    };
  }, [isOn]);
};
