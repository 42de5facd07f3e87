import './app.css'
import './lib/markdown/code.css'
import { mount } from 'svelte'
import App from './App.svelte'

// A file that is dropped on the window must not replace the page.
for (const type of ['dragenter', 'dragover', 'drop']) {
  window.addEventListener(type, (event) => event.preventDefault())
}

mount(App, { target: document.getElementById('app')! })
