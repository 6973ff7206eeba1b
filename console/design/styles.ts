// All styles are in the page's one style sheet, because a chunk that is loaded later brings none.
import './tokens.css';
import './base.css';
import 'uplot/dist/uPlot.min.css';
import './layout/layout.module.css';
import './controls/controls.module.css';
import './data/data.module.css';
import './feedback/feedback.module.css';
import './chat/chat.module.css';
