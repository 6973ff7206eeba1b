import { takePictures } from './take-pictures.ts';

// `npm run pictures -- --console` starts it.
await takePictures();
process.exit();
