//! The products: each program is packed separately, because most people want only the shell.

/// A program with an archive, a Debian package and a bill of materials of its own.
#[derive(Debug)]
pub(super) struct Product {
    /// The name of the program, and of all files that are made from it.
    pub(super) program: &'static str,
    /// The package from which cargo builds the program, and the folder of that package.
    pub(super) package: &'static str,
    pub(super) folder: &'static str,
    /// The cargo profile of the program, after which cargo's output folder is named.
    pub(super) profile: &'static str,
    /// The document that introduces the program to its users.
    pub(super) introduction: &'static str,
}

/// The remote shell.
pub(super) const ROVE: Product = Product {
    program: "rove",
    package: "rove-shell",
    folder: "crates/rove",
    profile: "dist",
    introduction: "README.md",
};

/// The laboratory.
pub(super) const LAB: Product = Product {
    program: "rove-lab",
    package: "rove-lab",
    folder: "lab/rove-lab",
    profile: "release",
    introduction: concat!("docs", "/lab.md"),
};

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::workspace;

    #[test]
    fn each_product_has_a_debian_package_of_its_own() {
        let root = workspace::root();
        let read = |path: &Path| fs::read_to_string(root.join(path)).expect("the file is there");
        for product in [ROVE, LAB] {
            let name = product.program;
            let manifest = read(&Path::new(product.folder).join("Cargo.toml"));
            let heading = format!("[package.metadata.deb]\nname = \"{name}\"\n");
            let (_, package) = manifest.split_once(&heading).expect("the package has its name");
            let introduction = Path::new(product.introduction).file_name().expect("a file");
            for asset in
                [introduction.to_str().expect("UTF-8"), "CHANGELOG.md", "THIRD-PARTY-LICENSES"]
            {
                let line = format!("share/doc/{name}/{asset}\", \"usr/share/doc/{name}/\"");
                assert!(package.contains(&line), "{name}: {line}");
            }
            let overrides = format!("packaging/{name}.lintian-overrides");
            assert!(package.contains(&overrides), "{name}");
            for line in read(overrides.as_ref()).lines().filter(|line| !line.starts_with('#')) {
                assert!(line.starts_with(&format!("{name}: ")), "{name}: {line}");
            }
        }
    }
}
