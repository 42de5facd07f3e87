import './app.css'
import './lib/markdown/code.css'
import { mount } from 'svelte'
import App from './App.svelte'
import { provideChinese, provideOthers, setLanguage } from './lib/i18n/i18n.svelte'

// A file that is dropped on the window must not replace the page.
for (const type of ['dragenter', 'dragover', 'drop']) {
  window.addEventListener(type, (event) => event.preventDefault())
}

provideChinese(() => import('./lib/chinese').then(({ chinese }) => chinese))
provideOthers({
  ja: () => import('./lib/japanese').then(({ japanese }) => japanese),
  es: () => import('./lib/spanish').then(({ spanish }) => spanish),
})
// Nothing is drawn in English first for those whose system is in Chinese.
void setLanguage('')
  .catch(() => {})
  .then(() => mount(App, { target: document.getElementById('app')! }))
