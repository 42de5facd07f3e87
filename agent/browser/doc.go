// Package browser has the tool with which a model looks at a page in a browser: it opens the
// page of a server that the user works on, presses and types, takes a picture, and reads what
// the page printed and requested.
//
// A [Browser] is one session's. It starts an installed Chromium when a page is opened first,
// through agent/sandbox, with a new profile in a folder of its own, and ends it when nobody has
// needed it for a while, when it takes too much memory, or with the session. None is ever
// downloaded. chromedp speaks the DevTools protocol with it.
//
// Everything that the browser requests goes through agent/network/proxy, also what a page
// redirects to or loads: it looks up names itself and reaches this computer and the hosts that
// the user allowed, and nothing else. A page of another computer does not reach this one: the
// browser is started anew between the two. Downloads, other windows and dialogs are refused.
//
// A page is a stranger's. It is read in a JavaScript world that its own scripts do not see, and
// what comes from it is bounded.
package browser
