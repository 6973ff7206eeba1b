import { type ComponentType, useLayoutEffect, useState } from 'react';
import { Skeleton } from './loaded.tsx';

/**
 * Returns a component whose code is loaded when it is first shown. Unlike React's `lazy`, it is shown as soon as it is
 * there: `lazy` would keep the skeleton for 300 ms, once for each chunk of a page. The nearest boundary gets a failure.
 */
export const later = <Props extends object>(
  read: () => Promise<ComponentType<Props>>,
  Place: ComponentType = Skeleton,
): ComponentType<Props> => {
  let Component: ComponentType<Props> | undefined;
  return (props) => {
    const [, setLoaded] = useState(false);
    const [failure, setFailure] = useState<{ error: unknown }>();
    useLayoutEffect(() => {
      if (Component) return;
      const show = (loaded: ComponentType<Props>): void => {
        Component = loaded;
        setLoaded(true);
      };
      read().then(show, (error: unknown) => setFailure({ error }));
    }, []);
    if (failure) throw failure.error;
    return Component ? <Component {...props} /> : <Place />;
  };
};
