// Package desktop shows Atelier in a window of its own. Only this package knows Wails.
//
// The window is drawn without OpenGL, which window_linux.c keeps out of the program, and no child
// starts before the window's page is ready, because it could keep the page blank. Three measures
// confine the page: a strict content policy, a guard on every navigation, and links that open
// outside only if they are plain http or https. WebKit offers every frame the way to the
// application's methods, so window_linux.c takes it from all frames but the page. On Linux notices
// are sent over D-Bus (notices_linux.go), because Wails takes a notice that was dismissed for
// one that was pressed.
package desktop
