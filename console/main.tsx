import './design/styles.ts';
import './app/app.module.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';

const root = document.querySelector('#root');
if (root) createRoot(root).render(<App />);
