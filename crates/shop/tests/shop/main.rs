//! The shop from outside: over HTTP, before a stand-in for the API.

mod buying;
mod pages;
mod support;
