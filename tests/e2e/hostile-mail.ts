/** Text that proves that the message is displayed. */
export const HOSTILE_TEXT = "Your invoice is attached";

/** A message that attempts to run scripts, navigate, send requests and imitate the console. */
export const HOSTILE_HTML = `
<html><head>
<meta http-equiv="refresh" content="0;url=https://evil.example/refreshed">
<base href="https://evil.example/">
<link rel="stylesheet" href="https://evil.example/style.css">
<style>@import url("https://evil.example/import.css"); body { background: url("https://evil.example/background.png") }</style>
<script>alert("script"); top.location = "https://evil.example/top"; fetch("https://evil.example/fetch")</script>
<script src="https://evil.example/script.js"></script>
</head>
<body onload="alert('onload')">
<p id="words">${HOSTILE_TEXT}</p>
<img src="x" onerror="alert('onerror')">
<img src="https://evil.example/pixel.png" width="1" height="1">
<img srcset="https://evil.example/srcset.png 1x">
<picture><source srcset="https://evil.example/source.png"><img src="https://evil.example/picture.png"></picture>
<video autoplay src="https://evil.example/video.mp4" poster="https://evil.example/poster.png"></video>
<audio autoplay src="https://evil.example/audio.mp3"></audio>
<svg onload="alert('svg')"><script>alert("svg script")</script><image href="https://evil.example/svg.png"/></svg>
<math><mtext><img src=x onerror="alert('math')"></mtext></math>
<details open ontoggle="alert('toggle')">d</details>
<input autofocus onfocus="alert('focus')">
<iframe src="https://evil.example/frame"></iframe>
<iframe srcdoc="<script>alert('srcdoc')</script>"></iframe>
<object data="https://evil.example/object"></object>
<embed src="https://evil.example/embed">
<form id="form" action="https://evil.example/form" method="post" target="_top"><button id="submit">Pay</button></form>
<a id="script-link" href="javascript:alert('link')">Open</a>
<a id="data-link" href="data:text/html,<script>alert('data')</script>">Data</a>
<a id="top-link" href="https://evil.example/top-link" target="_top">Leave</a>
<a id="blank-link" href="https://evil.example/blank" target="_blank">New window</a>
<a id="plain-link" href="https://evil.example/plain">Plain</a>
<template><img src="https://evil.example/template.png"></template>
</body></html>`;

/** A subject with markup. It must be displayed as text. */
export const HOSTILE_SUBJECT = `Invoice </title><script>alert("subject")</script><img src=x onerror=alert(1)> "due" 'now'`;
