import { createContext } from 'react';

/** Returns true for the path of a screen that the signed-in user can do something on. The shell provides it. */
export const OpenScreens = createContext<(path: string) => boolean>(() => false);
