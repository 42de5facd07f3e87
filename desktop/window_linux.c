//go:build linux && webkit2_41

#include "window_linux.h"

#include <gtk/gtk.h>
#ifdef GDK_WINDOWING_X11
#include <gdk/gdkx.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <webkit2/webkit2.h>

#include "_cgo_export.h"

static const char page[] = "wails://wails/";

// diagram draws diagrams in a sandboxed frame of the page.
static const char diagram[] = "wails://wails/diagram.html";

// disarm takes the way to the application from every frame but the page
// itself: WebKit would offer it to all of them.
static const char disarm[] = "if (window !== window.top && window.webkit) {"
                             "  for (const each of Object.values(window.webkit.messageHandlers)) delete Object.getPrototypeOf(each).postMessage;"
                             "  delete Object.getPrototypeOf(window.webkit).messageHandlers;"
                             "}";

// atelier_without_gl keeps GTK and WebKit from loading OpenGL into this program,
// which draws nothing with it: the driver would take 25 MB and more. What the user
// set holds. Programs that Atelier starts do not inherit this, because Go has an
// environment of its own.
void atelier_without_gl(void) {
    setenv("GDK_GL", "disable", 0);
    setenv("WEBKIT_DISABLE_DMABUF_RENDERER", "1", 0);
    // WebKit would ask OpenGL for the device that the renderer above draws on.
    setenv("WEBKIT_WEB_RENDER_DEVICE_FILE", "/dev/null", 0);
}

// find_view returns the web view at or below a widget, or NULL.
static WebKitWebView *find_view(GtkWidget *widget) {
    if (WEBKIT_IS_WEB_VIEW(widget)) return WEBKIT_WEB_VIEW(widget);
    if (!GTK_IS_CONTAINER(widget)) return NULL;
    WebKitWebView *view = NULL;
    GList *children = gtk_container_get_children(GTK_CONTAINER(widget));
    for (GList *at = children; at && !view; at = at->next) view = find_view(GTK_WIDGET(at->data));
    g_list_free(children);
    return view;
}

// the_view returns this program's only web view, or NULL.
static WebKitWebView *the_view(void) {
    WebKitWebView *view = NULL;
    GList *windows = gtk_window_list_toplevels();
    for (GList *at = windows; at && !view; at = at->next) view = find_view(GTK_WIDGET(at->data));
    g_list_free(windows);
    return view;
}

// is_page reports whether an address is the page's, with any query or fragment.
static gboolean is_page(const char *uri) {
    size_t length = strlen(page);
    return strncmp(uri, page, length) == 0 && (uri[length] == '\0' || uri[length] == '#' || uri[length] == '?');
}

// decide_response refuses to show the document of diagrams instead of the page.
static gboolean decide_response(WebKitPolicyDecision *decision) {
    WebKitResponsePolicyDecision *response = WEBKIT_RESPONSE_POLICY_DECISION(decision);
    const char *uri = webkit_uri_request_get_uri(webkit_response_policy_decision_get_request(response));
    if (is_page(uri) || !webkit_response_policy_decision_is_main_frame_main_resource(response)) return FALSE;
    atelierNavigationBlocked((char *)uri);
    webkit_policy_decision_ignore(decision);
    return TRUE;
}

// decide refuses every navigation away from the page: links, redirects, forms,
// frames, dropped files and new windows. A frame may show the document of
// diagrams.
static gboolean decide(WebKitWebView *view, WebKitPolicyDecision *decision, WebKitPolicyDecisionType type, gpointer data) {
    if (type == WEBKIT_POLICY_DECISION_TYPE_RESPONSE) return decide_response(decision);
    WebKitNavigationAction *action =
        webkit_navigation_policy_decision_get_navigation_action(WEBKIT_NAVIGATION_POLICY_DECISION(decision));
    const char *uri = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action));
    if (type == WEBKIT_POLICY_DECISION_TYPE_NAVIGATION_ACTION && (is_page(uri) || strcmp(uri, diagram) == 0)) return FALSE;
    atelierNavigationBlocked((char *)uri);
    webkit_policy_decision_ignore(decision);
    return TRUE;
}

static void terminated(WebKitWebView *view, WebKitWebProcessTerminationReason reason, gpointer data) {
    if (atelierPageDied()) webkit_web_view_reload(view);
}

static void load_changed(WebKitWebView *view, WebKitLoadEvent event, gpointer data) {
    if (event == WEBKIT_LOAD_FINISHED) atelierPageLoaded();
}

static gboolean guard(gpointer data) {
    WebKitWebView *view = the_view();
    if (view) {
        WebKitUserScript *script = webkit_user_script_new(disarm, WEBKIT_USER_CONTENT_INJECT_ALL_FRAMES,
                                                          WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START, NULL, NULL);
        webkit_user_content_manager_add_script(webkit_web_view_get_user_content_manager(view), script);
        webkit_user_script_unref(script);
        g_signal_connect(view, "decide-policy", G_CALLBACK(decide), NULL);
        g_signal_connect(view, "web-process-terminated", G_CALLBACK(terminated), NULL);
        g_signal_connect(view, "load-changed", G_CALLBACK(load_changed), NULL);
    }
    return G_SOURCE_REMOVE;
}

void atelier_guard(void) { g_idle_add(guard, NULL); }

static gboolean move(gpointer data) {
    GdkPoint *to = data;
    WebKitWebView *view = the_view();
    if (view) {
        // This is a point well inside the title bar, where a person can drag it.
        GdkRectangle screen;
        int x = to->x + 60, y = to->y + 10;
        GdkMonitor *monitor = gdk_display_get_monitor_at_point(gtk_widget_get_display(GTK_WIDGET(view)), x, y);
        gdk_monitor_get_geometry(monitor, &screen);
        if (x >= screen.x && x < screen.x + screen.width && y >= screen.y && y < screen.y + screen.height)
            gtk_window_move(GTK_WINDOW(gtk_widget_get_toplevel(GTK_WIDGET(view))), to->x, to->y);
    }
    g_free(to);
    return G_SOURCE_REMOVE;
}

void atelier_move(int x, int y) {
    GdkPoint *to = g_new(GdkPoint, 1);
    *to = (GdkPoint){x, y};
    g_idle_add(move, to);
}

static gboolean zoom(gpointer percent) {
    WebKitWebView *view = the_view();
    if (view) webkit_web_view_set_zoom_level(view, GPOINTER_TO_INT(percent) / 100.0);
    return G_SOURCE_REMOVE;
}

void atelier_zoom(int percent) { g_idle_add(zoom, GINT_TO_POINTER(percent)); }

static gboolean present(gpointer data) {
    WebKitWebView *view = the_view();
    if (!view) return G_SOURCE_REMOVE;
    GtkWidget *window = gtk_widget_get_toplevel(GTK_WIDGET(view));
    guint32 now = GDK_CURRENT_TIME;
#ifdef GDK_WINDOWING_X11
    // Without a time GTK names that of the user's last act in this window. A
    // later act in another window would then keep this one from the front.
    GdkWindow *drawn = gtk_widget_get_window(window);
    if (drawn && GDK_IS_X11_WINDOW(drawn)) now = gdk_x11_get_server_time(drawn);
#endif
    gtk_window_present_with_time(GTK_WINDOW(window), now);
    return G_SOURCE_REMOVE;
}

void atelier_present(void) { g_idle_add(present, NULL); }
