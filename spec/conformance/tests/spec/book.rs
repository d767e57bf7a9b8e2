//! The pages as a book: all of them are in it, and no link of the site leads nowhere.

use crate::{folder, read};
use mdbook_driver::MDBook;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every file below a folder, as paths from it.
fn files(top: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![top.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path().strip_prefix(top).unwrap().to_owned());
            }
        }
    }
    files
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension == wanted)
}

#[test]
fn the_summary_lists_every_page_once_by_its_heading() {
    let mut listed = BTreeMap::new();
    for line in read("SUMMARY.md").lines().filter(|line| line.contains("](")) {
        let (title, path) = line.trim_start_matches("- ").split_once("](").unwrap();
        let (title, path) = (title.trim_start_matches('['), path.trim_end_matches(')'));
        let heading = format!("# {title}");
        assert_eq!(read(path).lines().next(), Some(&*heading), "spec/SUMMARY.md: {path} has another heading");
        assert_eq!(
            listed.insert(PathBuf::from(path), title.to_owned()),
            None,
            "spec/SUMMARY.md: {path} is there twice"
        );
    }
    let pages = files(&folder()).into_iter().filter(|path| has_extension(path, "md") && !path.ends_with("SUMMARY.md"));
    let missing: Vec<PathBuf> = pages.filter(|path| !listed.contains_key(path)).collect();
    assert!(missing.is_empty(), "spec/SUMMARY.md: list {missing:?}");
}

/// The values of an attribute in a page of the site.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let begin = format!(" {name}=\"");
    html.split(&*begin).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// Where a relative link of a page leads, from the site's top.
fn target(page: &Path, link: &str) -> PathBuf {
    let mut parts: Vec<&str> = page.parent().unwrap().iter().map(|part| part.to_str().unwrap()).collect();
    for part in link.split('/') {
        match part {
            ".." => assert!(parts.pop().is_some(), "{}: {link} leads out of the book", page.display()),
            part => parts.push(part),
        }
    }
    parts.iter().collect()
}

#[test]
fn every_link_of_the_site_leads_somewhere() {
    let site = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book");
    let mut book = MDBook::load(folder()).unwrap();
    book.config.build.build_dir = site.clone();
    book.build().unwrap();

    let files: BTreeSet<PathBuf> = files(&site).into_iter().collect();
    let pages = files.iter().filter(|path| has_extension(path, "html"));
    let pages: BTreeMap<&PathBuf, String> =
        pages.map(|path| (path, fs::read_to_string(site.join(path)).unwrap())).collect();
    for chapter in book.iter().filter_map(chapter_path) {
        assert!(pages.contains_key(&chapter.with_extension("html")), "{} is not in the site", chapter.display());
    }
    let (mut seen, mut broken) = (0, Vec::new());
    for (page, html) in &pages {
        for link in attributes(html, "href").into_iter().chain(attributes(html, "src")) {
            if link.contains("://") {
                continue;
            }
            seen += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { page.to_path_buf() } else { target(page, path) };
            let found = files.contains(&path)
                && (anchor.is_empty() || pages.get(&path).is_some_and(|html| attributes(html, "id").contains(&anchor)));
            if !found {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(seen > 1000, "only {seen} links were found");
    assert!(broken.is_empty(), "these lead nowhere:\n{}", broken.join("\n"));
}

fn chapter_path(item: &mdbook_driver::book::BookItem) -> Option<&PathBuf> {
    let mdbook_driver::book::BookItem::Chapter(chapter) = item else { return None };
    chapter.path.as_ref()
}
