import { createContext } from 'react';

/** Keeps the dialog around a form open while the form is sent: what it made, such as a secret, is shown there. */
export const HoldDialog = createContext<(isHeld: boolean) => void>(() => undefined);
